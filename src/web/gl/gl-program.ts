/*
 * What our own layers share: a compiled program with the places of its uniforms. Single uniforms, no blocks: MapLibre
 * draws wrongly after a layer that binds one (maplibre-gl-js#8413).
 */

export interface GlProgram {
  readonly program: WebGLProgram;
  /** Its uniforms by name. */
  readonly uniforms: Readonly<Record<string, WebGLUniformLocation>>;
}

export function createProgram(gl: WebGL2RenderingContext, vertex: string, fragment: string): GlProgram {
  const program = gl.createProgram();
  gl.attachShader(program, compile(gl, gl.VERTEX_SHADER, vertex));
  gl.attachShader(program, compile(gl, gl.FRAGMENT_SHADER, fragment));
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost())
    throw new Error(`Cannot link a shader: ${gl.getProgramInfoLog(program)}`);
  const uniforms: Record<string, WebGLUniformLocation> = {};
  const count = (gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS) as number | null) ?? 0;
  for (let index = 0; index < count; index++) {
    const name = gl.getActiveUniform(program, index)!.name.replace("[0]", "");
    uniforms[name] = gl.getUniformLocation(program, name)!;
  }
  return { program, uniforms };
}

function compile(gl: WebGL2RenderingContext, type: number, source: string): WebGLShader {
  const shader = gl.createShader(type)!;
  gl.shaderSource(shader, source);
  gl.compileShader(shader);
  if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS) && !gl.isContextLost())
    throw new Error(`Cannot compile a shader: ${gl.getShaderInfoLog(shader)}`);
  return shader;
}

/** Rows of unsigned integers on the graphics card, which a layer's program reads. */
export interface GlRows {
  readonly vertices: WebGLVertexArrayObject;
  readonly bytes: WebGLBuffer;
}

export interface RowLayout {
  readonly rowBytes: number;
  /** In the order of their locations in the program: how many words, and at which byte of the row. */
  readonly attributes: readonly (readonly [words: number, offset: number])[];
  /** A row is a vertex, or an instance of several. */
  readonly per: "vertex" | "instance";
}

export function createRows(gl: WebGL2RenderingContext, { rowBytes, attributes, per }: RowLayout): GlRows {
  const rows = { vertices: gl.createVertexArray(), bytes: gl.createBuffer() };
  gl.bindVertexArray(rows.vertices);
  gl.bindBuffer(gl.ARRAY_BUFFER, rows.bytes);
  for (const [location, [words, offset]] of attributes.entries()) {
    gl.enableVertexAttribArray(location);
    gl.vertexAttribIPointer(location, words, gl.UNSIGNED_INT, rowBytes, offset);
    gl.vertexAttribDivisor(location, per === "instance" ? 1 : 0);
  }
  gl.bindVertexArray(null);
  return rows;
}

export function deleteRows(gl: WebGL2RenderingContext, { vertices, bytes }: GlRows): void {
  gl.deleteVertexArray(vertices);
  gl.deleteBuffer(bytes);
}

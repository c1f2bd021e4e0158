import { AGING_MS_MAX, FRESH_MS_MAX } from "../devices/freshness.ts";
import { CLUSTERED, DOT_LEVELS } from "./dot-buffer.ts";

/* The shaders of a dot: its position, size, shape and color. */

/**
 * Half the width of the square that a shape fits into, in CSS pixels. The squares are as small as possible, since the
 * pixels of 200,000 dots take most of the time.
 */
const EXTENTS = { disc: 7.5, arrow: 10, ring: 13 } as const;

/** Smaller arrows look like discs. */
const POINTING_SCALE_MIN = 0.6;

export const DOT_VERTEX = `#version 300 es
precision highp float;
precision highp int;

layout(location = 0) in uvec2 was;
layout(location = 1) in uvec2 is;
layout(location = 2) in uvec3 report; // Words 4 to 6 of dot-buffer.ts.

uniform uvec2 center;
uniform vec2 centerClip;
uniform vec2 clipPerUnit;
uniform float copy; // The copy of the world: several are visible if the world is narrower than the map.
uniform uint nowMs;
uniform uint nowSeconds;
uniform float glideMs;
uniform bool isChosen;
uniform float pixelRatio;
uniform float scale;

flat out int age; // 0 fresh, 1 aging, 2 old.
flat out uint level;
flat out vec2 heading; // The direction; zero if there is none.
flat out float extent; // Half the width of the square.
flat out float pixel; // The size of a screen pixel in CSS pixels of the shape.

void main() {
  float left = 0.0;
  if (glideMs > 0.0) left = 1.0 - clamp(float(int(nowMs - report.x)) / glideMs, 0.0, 1.0);
  // Differences of integers are exact at any zoom. Those of x wrap around the world; those of y must not.
  vec2 way = vec2(float(int(is.x - was.x)), is.y >= was.y ? float(is.y - was.y) : -float(was.y - is.y));
  float south = is.y >= center.y ? float(is.y - center.y) : -float(center.y - is.y);
  vec2 offset = vec2(float(int(is.x - center.x)) + copy * 4294967296.0, south) - way * left;

  int ageSeconds = int(nowSeconds - report.y);
  age = ageSeconds < ${FRESH_MS_MAX / 1000} ? 0 : ageSeconds < ${AGING_MS_MAX / 1000} ? 1 : 2;
  level = isChosen ? ${DOT_LEVELS.marked}u : (report.z >> 16u) & 3u;
  if ((report.z & ${CLUSTERED}u) != 0u && level != ${DOT_LEVELS.marked}u) { // A cluster stands for it.
    gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
    return;
  }
  // Higher levels and fresher dots are in front, whatever the order of drawing.
  float depth = 1.0 - 0.2 * float(level * 3u + uint(2 - age));
  gl_Position = vec4(centerClip + offset * clipPerUnit, depth, 1.0);

  uint bearing = report.z & 511u;
  bool isPointing = bearing <= 360u && age < 2 && (scale >= ${POINTING_SCALE_MIN} || isChosen);
  heading = isPointing ? vec2(sin(radians(float(bearing))), -cos(radians(float(bearing)))) : vec2(0.0);
  extent = isPointing ? ${EXTENTS.arrow.toFixed(1)} : ${EXTENTS.disc.toFixed(1)};
  if (level == ${DOT_LEVELS.marked}u) extent = ${EXTENTS.ring.toFixed(1)};
  float size = scale * (isChosen ? 1.6 : level == ${DOT_LEVELS.marked}u ? 1.2 : 1.0);
  pixel = 1.0 / (size * pixelRatio);
  gl_PointSize = 2.0 * extent * size * pixelRatio;
}`;

export const DOT_FRAGMENT = `#version 300 es
precision highp float;
precision highp int; // The same as in the vertex shader, since they share uniforms.

flat in int age;
flat in uint level;
flat in vec2 heading;
flat in float extent;
flat in float pixel;

uniform bool isChosen;
uniform vec3 colors[3]; // By age.
uniform vec3 edge;
uniform vec3 accent;
uniform float fade; // 1, or less while the heatmap is shown.

out vec4 color;

float toSegment(vec2 point, vec2 start, vec2 end) {
  vec2 along = end - start;
  return length(point - start - along * clamp(dot(point - start, along) / dot(along, along), 0.0, 1.0));
}

/** The distance of a point from the arrow, negative inside. The arrow is symmetric, so one half is computed. */
float toArrow(vec2 point) {
  const vec2 tip = vec2(0.0, -8.0), wing = vec2(5.6, 6.2), notch = vec2(0.0, 3.2);
  point.x = abs(point.x);
  vec2 side = wing - tip, back = notch - wing;
  bool isInside = side.x * (point.y - tip.y) > side.y * (point.x - tip.x)
    && back.x * (point.y - wing.y) > back.y * (point.x - wing.x);
  float least = min(toSegment(point, tip, wing), toSegment(point, wing, notch));
  return isInside ? -least : least;
}

/** The coverage of a pixel: 1 inside, 0 outside, between them at the edge. */
float within(float outside) {
  return clamp(0.5 - outside / pixel, 0.0, 1.0);
}

vec4 over(vec4 top, vec4 ground) {
  return top + ground * (1.0 - top.a);
}

void main() {
  vec2 point = (gl_PointCoord * 2.0 - 1.0) * extent;
  float outside;
  if (heading == vec2(0.0)) outside = length(point) - (age == 2 ? 4.2 : 5.0);
  else outside = toArrow(vec2(dot(point, vec2(-heading.y, heading.x)), -dot(point, heading)));

  vec4 drawn = vec4(0.0);
  if (level == ${DOT_LEVELS.marked}u) {
    float radius = isChosen ? extent - 1.0 : 10.5;
    drawn = vec4(accent, 1.0) * 0.25 * within(length(point) - radius);
    drawn = over(vec4(accent, 1.0) * within(abs(length(point) - radius + 0.8) - 0.8), drawn);
  }
  drawn = over(vec4(edge, 1.0) * within(outside - 1.6), drawn);
  drawn = over(vec4(colors[age], 1.0) * within(outside), drawn);
  // Older dots are hollow, so that age is visible without colors.
  if (age > 0) drawn = over(vec4(edge, 1.0) * within(outside + (heading == vec2(0.0) && age == 1 ? 2.8 : 1.6)), drawn);
  if (drawn.a == 0.0) discard; // The depth buffer would hide what is behind.
  // What the user has chosen stays as it is.
  color = drawn * (level == ${DOT_LEVELS.dim}u ? 0.28 : 1.0) * (level == ${DOT_LEVELS.marked}u ? 1.0 : fade);
}`;

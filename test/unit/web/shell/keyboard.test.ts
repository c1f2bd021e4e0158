import { expect, test } from "bun:test";
import { Keyboard, type KeyPress } from "../../../../src/web/shell/keyboard.ts";

const BODY = { tagName: "BODY", isContentEditable: false };

function press(key: string, more: Partial<KeyPress> = {}): KeyPress {
  return {
    key,
    ctrlKey: false,
    metaKey: false,
    altKey: false,
    shiftKey: false,
    defaultPrevented: false,
    target: BODY,
    ...more,
  };
}

function keyboardWith(...keys: string[]) {
  const pressed: string[] = [];
  const keyboard = new Keyboard();
  for (const key of keys) keyboard.on(key, () => pressed.push(key));
  return { keyboard, pressed };
}

test("a key does what its part says, in capitals too, and others do nothing", () => {
  const { keyboard, pressed } = keyboardWith("n", "?");
  expect(["n", "N", "?", "x"].map((key) => keyboard.press(press(key)))).toEqual([true, true, true, false]);
  expect(pressed).toEqual(["n", "n", "?"]);
});

test("shortcuts of the browser, and what others have taken, are left alone", () => {
  const { keyboard, pressed } = keyboardWith("n");
  for (const modifier of ["ctrlKey", "metaKey", "altKey", "defaultPrevented"])
    expect([modifier, keyboard.press(press("n", { [modifier]: true }))]).toEqual([modifier, false]);
  expect(pressed).toEqual([]);
});

test("signs that a keyboard has on AltGr or Option alone are typed, and not commands", () => {
  const { keyboard, pressed } = keyboardWith("[", "]", "/", " ", "ArrowLeft");
  const option = { altKey: true };
  const altGrOnWindows = { altKey: true, ctrlKey: true };
  for (const modifiers of [option, altGrOnWindows]) {
    expect(["[", "]"].map((key) => keyboard.press(press(key, modifiers)))).toEqual([true, true]);
    expect([" ", "ArrowLeft"].map((key) => keyboard.press(press(key, modifiers)))).toEqual([false, false]);
  }
  for (const modifiers of [{ ctrlKey: true }, { metaKey: true }, { metaKey: true, altKey: true }])
    expect(["[", "]", "/"].map((key) => keyboard.press(press(key, modifiers)))).toEqual([
      false,
      false,
      false,
    ]);
  expect(pressed).toEqual(["[", "]", "[", "]"]);
});

test("what has the focus keeps the keys that it needs", () => {
  const { keyboard, pressed } = keyboardWith("n", " ", "ArrowLeft");
  const focus = (tagName: string, type?: string) => ({ tagName, type, isContentEditable: false });
  for (const [target, key, isOurs] of [
    [focus("INPUT", "text"), "n", false],
    [focus("INPUT", "search"), " ", false],
    [focus("TEXTAREA"), "n", false],
    [focus("SELECT"), "n", false],
    [{ ...focus("DIV"), isContentEditable: true }, "n", false],
    [focus("INPUT", "range"), "n", true],
    [focus("INPUT", "range"), "ArrowLeft", false],
    [focus("INPUT", "checkbox"), " ", false],
    [focus("BUTTON"), " ", false],
    [focus("BUTTON"), "n", true],
    [focus("A"), " ", false],
    [focus("CANVAS"), " ", true],
    [null, "n", true],
  ] as const)
    expect([target, key, keyboard.press(press(key, { target }))]).toEqual([target, key, isOurs]);
  expect(pressed).toEqual(["n", "n", " ", "n"]);
});

test("Esc closes one thing at a time, also from a field", () => {
  const open = new Set(["panel", "device"]);
  const keyboard = new Keyboard();
  keyboard.onEscape(() => open.delete("device"));
  keyboard.onEscape(() => open.delete("panel"));
  const pressed = press("Escape", { target: { tagName: "INPUT", type: "number", isContentEditable: false } });
  expect(keyboard.press(pressed)).toBeTrue();
  expect([...open]).toEqual(["device"]);
  expect(keyboard.press(pressed)).toBeTrue();
  expect(keyboard.press(pressed)).toBeFalse();
});

test("Ctrl+Z and ⌘Z undo, but not in a text field, and not with other keys", () => {
  const keyboard = new Keyboard();
  let undone = 0;
  keyboard.onUndo(() => ++undone < 3);
  const undo = (more: Partial<KeyPress>) => keyboard.press(press("z", more));
  expect([undo({ ctrlKey: true }), undo({ metaKey: true }), undone]).toEqual([true, true, 2]);
  const field = { tagName: "INPUT", type: "text", isContentEditable: false };
  for (const more of [
    {},
    { ctrlKey: true, shiftKey: true },
    { ctrlKey: true, altKey: true },
    { ctrlKey: true, target: field },
  ])
    expect([more, undo(more)]).toEqual([more, false]);
  expect(undone).toBe(2);
  expect(undo({ ctrlKey: true })).toBe(false); // There is nothing to undo: the browser has the key.
});

/** The Enter key, as WebDriver names it. */
const ENTER = '\uE007'

/** Actions of a pointer, in the form of both protocols of WebDriver: a click on the centre of an element. */
export const clickOn = (origin: unknown) => ({
  type: 'pointer',
  id: 'mouse',
  actions: [
    { type: 'pointerMove', x: 0, y: 0, origin },
    { type: 'pointerDown', button: 0 },
    { type: 'pointerUp', button: 0 },
  ],
})

/** Actions of a keyboard that type a text; `\n` is the Enter key. */
export const keysOf = (text: string) => ({
  type: 'key',
  id: 'keyboard',
  actions: [...text.replaceAll('\n', ENTER)].flatMap(value => [
    { type: 'keyDown', value },
    { type: 'keyUp', value },
  ]),
})

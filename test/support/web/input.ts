import type { Locator, Page } from 'playwright-core'

/** How somebody uses a page: with a pointer, or with the keyboard alone. */
export type Way = 'pointer' | 'keyboard'

export interface Input {
  /** Presses a button, or follows a link. */
  press(target: Locator): Promise<void>
  /** Puts a text into a field. */
  fill(target: Locator, text: string): Promise<void>
  /** Ticks a box, or takes its tick away. */
  tick(target: Locator, isTicked: boolean): Promise<void>
}

/** More than any page has elements that take the focus. */
const mostTabs = 200

/** Moves the focus with the tabulator. Throws if it never comes to the target. */
const tabTo = async (page: Page, target: Locator): Promise<void> => {
  await target.waitFor()
  for (let count = 0; count < mostTabs; count++) {
    if (await target.evaluate(element => element === document.activeElement)) return
    // A terminal takes the tabulator for its guest.
    const isInTerminal = await page.evaluate('document.activeElement.closest(".xterm") !== null')
    await page.keyboard.press(isInTerminal ? 'Control+]' : 'Tab')
  }
  throw new Error(`the tabulator does not reach ${String(target)}`)
}

/** Uses the page with its keyboard alone. */
const createKeyboardInput = (page: Page): Input => ({
  async press(target) {
    await tabTo(page, target)
    await page.keyboard.press('Enter')
  },
  async fill(target, text) {
    await tabTo(page, target)
    await page.keyboard.press('Control+A')
    await page.keyboard.press('Delete')
    await page.keyboard.type(text)
  },
  async tick(target, isTicked) {
    await tabTo(page, target)
    if ((await target.isChecked()) !== isTicked) await page.keyboard.press('Space')
  },
})

/** Uses the page with a pointer. */
const pointerInput: Input = {
  press: target => target.click(),
  fill: (target, text) => target.fill(text),
  tick: (target, isTicked) => target.setChecked(isTicked),
}

/** Uses a page in one of the ways. */
export const createInput = (page: Page, way: Way): Input =>
  way === 'keyboard' ? createKeyboardInput(page) : pointerInput

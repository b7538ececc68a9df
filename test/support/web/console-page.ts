import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { expect } from 'vitest'
import { patience, until } from '../waiting.ts'
import { createInput, type Input, type Way } from './input.ts'

/** A page of the web console, and what went wrong in it. */
export interface ConsolePage extends Input {
  readonly page: Page
  /** Errors of scripts, and requests to anybody but the service. */
  readonly faults: readonly string[]
  /** Fills the fields of the open dialog by their labels, and presses its button. */
  submit(button: string, fields?: Readonly<Record<string, string | boolean>>): Promise<void>
  /** Presses a button or a link that opens a dialog, and submits it. */
  act(button: string, fields?: Readonly<Record<string, string | boolean>>): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** Opens the web console in a browser without cookies. */
export const openConsole = async (
  browser: Browser,
  url: string,
  way: Way = 'pointer',
  options: BrowserContextOptions = {},
): Promise<ConsolePage> => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
  context.setDefaultTimeout(patience)
  const page = await context.newPage()
  const faults: string[] = []
  page.on('pageerror', error => void faults.push(error.message))
  page.on('console', message => {
    if (/Content.Security.Policy/i.test(message.text())) faults.push(message.text())
  })
  page.on('request', request => {
    if (!/^(?:data|blob):/.test(request.url()) && new URL(request.url()).host !== new URL(url).host)
      faults.push(`a request to ${request.url()}`)
  })
  await page.goto(url)
  const input = createInput(page, way)
  const submit: ConsolePage['submit'] = async (button, fields = {}) => {
    const dialog = page.getByRole('dialog')
    for (const [label, value] of Object.entries(fields)) {
      const field = dialog.getByLabel(label, { exact: true })
      await (typeof value === 'boolean' ? input.tick(field, value) : input.fill(field, value))
    }
    await input.press(dialog.getByRole('button', { name: button, exact: true }))
    await dialog.waitFor({ state: 'detached' })
  }
  return {
    ...input,
    page,
    faults,
    submit,
    async act(button, fields) {
      await input.press(page.getByRole('button', { name: `${button}…`, exact: true }))
      await submit(button, fields)
    },
    async [Symbol.asyncDispose]() {
      await context.close()
    },
  }
}

/** Signs in with the form. */
export const signIn = async ({ page, fill, press }: ConsolePage, name: string, password: string): Promise<void> => {
  await fill(page.getByLabel('User name or e-mail address'), name)
  await fill(page.getByLabel('Password'), password)
  await press(page.getByRole('button', { name: 'Sign in' }))
  await page.getByRole('button', { name: 'Sign out' }).waitFor()
}

/** The text in the terminal of the page. */
export const readTerminal = ({ page }: ConsolePage): Promise<string> =>
  page.locator('.xterm-rows').evaluate(rows => [...rows.children].map(row => row.textContent).join('\n'))

/** Waits until the terminal of the page has a text. */
export const waitForOutput = (console: ConsolePage, pattern: RegExp): Promise<void> =>
  until(async () => expect(await readTerminal(console)).toMatch(pattern), 100)

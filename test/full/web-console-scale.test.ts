import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newState, rootPassword, startService } from '../support/service.ts'
import { openBrowser, withoutChromium } from '../support/web/browser.ts'
import { openConsole, signIn } from '../support/web/console-page.ts'
import { measureTasks } from '../support/web/trace.ts'

const machines = 1_000
const steps = 60
/** A frame of 60 a second. */
const frame = 16

describe.skipIf(withoutChromium !== undefined)(`a list of 1,000 machines (${withoutChromium ?? 'in Chromium'})`, () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser?.close())

  test('holds at most 80 rows, and scrolls a step within a frame of processor time', async () => {
    using state = newState()
    const service = await startService({
      state: state.path,
      env: { VMHOST_ROOT_PASSWORD: rootPassword, VMHOST_LISTEN: 'http://127.0.0.1:0' },
    })
    await using console = await openConsole(browser, service.url)
    const { page } = console
    // The records are those of the service, as many as a large one has.
    await page.route(/\/api\/v1\/machines\?/, async route => {
      const response = await route.fetch()
      // The reply of the service, by its contract.
      const [demo] = (await response.json()) as readonly Record<string, unknown>[]
      const many = Array.from({ length: machines }, (_, at) => ({
        ...demo,
        ID: crypto.randomUUID(),
        Name: `machine-${String(at).padStart(4, '0')}`,
      }))
      await route.fulfill({ response, json: many })
    })
    await signIn(console, 'root', rootPassword)
    await page.getByRole('link', { name: 'machine-0000' }).waitFor()
    const countRows = (): Promise<number> => page.locator('tbody tr').count()
    expect(await page.locator('output.count').textContent()).toBe(String(machines))
    expect(await countRows()).toBeLessThanOrEqual(80)

    const table = page.getByRole('region', { name: 'Machines' })
    /** Scrolls in one call, as what the page does for a debugger would count as its work. Gives the most rows that it had. */
    const scroll = (pixels: number): Promise<number> =>
      table.evaluate(
        async (element, by) => {
          let rows = 0
          for (let step = 0; step < by.steps; step++) {
            element.scrollBy(0, by.pixels)
            // A task after the callbacks of a frame begins when the frame is drawn. As with a wheel, the next step comes between two frames.
            await new Promise(resolve => requestAnimationFrame(() => setTimeout(resolve)))
            rows = Math.max(rows, element.querySelectorAll('tbody tr').length)
          }
          return rows
        },
        { pixels, steps },
      )
    // The first steps compile the code.
    let most = await scroll(600)
    await scroll(-600)
    const busy = await measureTasks(browser, page, async () => {
      most = Math.max(most, await scroll(600))
    })
    expect(most).toBeLessThanOrEqual(80)
    process.stdout.write(`${(busy / steps).toFixed(1)} ms of the main thread for a step of 600 pixels\n`)
    expect(busy / steps).toBeLessThanOrEqual(frame)
    // The end of the list is there too.
    await table.evaluate(element => element.scrollTo(0, element.scrollHeight))
    await page.getByRole('link', { name: 'machine-0999' }).waitFor()
    expect(await service.stop()).toBe(0)
  })
})

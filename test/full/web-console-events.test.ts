import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startCuttingRelay } from '../support/servers/cutting-relay.ts'
import { newState, rootPassword, startService } from '../support/service.ts'
import { until } from '../support/waiting.ts'
import { openBrowser, withoutChromium } from '../support/web/browser.ts'
import { openConsole, signIn } from '../support/web/console-page.ts'

const changes = 1_000
const usersAdded = 50

/** The rows of the list that is open, as texts. */
const readRows = (page: Page): Promise<readonly string[]> =>
  page.locator('tbody tr:not([aria-hidden])').evaluateAll(rows => rows.map(row => row.textContent ?? ''))

describe.skipIf(withoutChromium !== undefined)(
  `the lists of the web console (${withoutChromium ?? 'in Chromium'})`,
  () => {
    let browser: Browser
    beforeAll(async () => {
      browser = await openBrowser()
    })
    afterAll(() => browser?.close())

    test('are those of a new page after a lost connection with a thousand changes in between', async () => {
      using state = newState()
      const service = await startService({
        state: state.path,
        env: { VMHOST_ROOT_PASSWORD: rootPassword, VMHOST_LISTEN: 'http://127.0.0.1:0' },
      })
      await using relay = await startCuttingRelay(Number(new URL(service.url).port))
      await using console = await openConsole(browser, relay.url)
      const { page } = console
      await signIn(console, 'root', rootPassword)
      const open = (one: Page, name: string) =>
        one.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name, exact: true }).click()
      // Both lists are read before the connection is lost, so that only events can change them.
      await open(page, 'Users')
      await page.getByRole('link', { name: 'root', exact: true }).waitFor()
      await open(page, 'Machines')
      await page.getByRole('link', { name: 'demo', exact: true }).waitFor()
      await page.getByText('Live', { exact: true }).waitFor()

      relay.cut()
      await page.getByText('Offline, trying again…').waitFor()
      const token = await service.signIn()
      const call = async (method: string, path: string, body?: unknown): Promise<void> => {
        const { status } = await service.call(method, `/api/v1${path}`, { token, body })
        expect(status, path).toBeLessThan(300)
      }
      await call('PUT', '/machines/demo/clone', { clone_name: 'twin' })
      await call('DELETE', '/machines/demo')
      for (let count = 1; count <= changes; count++)
        await call('PUT', '/machines/twin/set', {
          operations: [{ group: 'description', operation: 'set', value: `change ${count}` }],
        })
      for (let count = 1; count <= usersAdded; count++)
        await call('POST', '/auth/users', {
          username: `user-${count}`,
          name: `User ${count}`,
          email: `u${count}@example.com`,
        })
      // Nobody has told the page.
      expect(await readRows(page)).toHaveLength(1)
      relay.mend()

      await page.getByText('Live', { exact: true }).waitFor()
      await until(async () => expect((await readRows(page)).join()).toContain(`change ${changes}`), 100)
      const other = await page.context().newPage()
      await other.goto(relay.url)
      await other.getByRole('link', { name: 'twin', exact: true }).waitFor()
      expect(await readRows(page)).toEqual(await readRows(other))
      for (const one of [page, other]) await open(one, 'Users')
      await until(async () => expect((await readRows(other)).length).toBeGreaterThan(20), 100)
      await until(async () => expect(await readRows(page)).toEqual(await readRows(other)), 100)
      for (const one of [page, other])
        await until(
          async () => expect(await one.locator('output.count').textContent()).toBe(String(usersAdded + 1)),
          100,
        )
      expect(console.faults.filter(fault => !fault.includes('fetch'))).toEqual([])
      expect(await service.stop()).toBe(0)
    })
  },
)

import { describe, expect, test } from 'vitest'
import { newState, rootPassword, startService } from '../support/service.ts'
import { openBrowser, withoutChromium } from '../support/web/browser.ts'
import { openConsole, signIn, waitForOutput } from '../support/web/console-page.ts'

describe.skipIf(withoutChromium !== undefined)(
  `the web console in a browser (${withoutChromium ?? 'Chromium'})`,
  () => {
    test('signs in, lists the machines, starts one and shows its console', async () => {
      using state = newState()
      const service = await startService({
        state: state.path,
        env: { VMHOST_ROOT_PASSWORD: rootPassword, VMHOST_LISTEN: 'http://127.0.0.1:0' },
      })
      await using browser = await openBrowser()
      await using console = await openConsole(browser, service.url)
      const { page } = console
      await signIn(console, 'root', rootPassword)
      await page.getByRole('link', { name: 'demo', exact: true }).click()
      await page.getByRole('button', { name: 'Start', exact: true }).click()
      await page.locator('.page > header .state', { hasText: 'running' }).waitFor()
      await page.getByRole('link', { name: 'Console', exact: true }).click()
      await page.getByText('Connected, you write').waitFor()
      await waitForOutput(console, /T [0-9a-fA-F]{8}/)
      await page.goto(`${service.url}/docs/web-console`)
      await page.getByRole('heading', { level: 1, name: 'The web console' }).waitFor()
      expect(console.faults).toEqual([])
      expect(await service.stop()).toBe(0)
    })
  },
)

import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { withoutQemu } from '../support/drivers/qemu.ts'
import { newFolder } from '../support/folder.ts'
import { buildScreenDisk } from '../support/guests/screen-guest.ts'
import { newState, rootPassword, startService } from '../support/service.ts'
import { openBrowser, withoutChromium } from '../support/web/browser.ts'
import { openConsole, signIn } from '../support/web/console-page.ts'

const why = withoutChromium ?? (withoutQemu ? 'QEMU is not installed' : undefined)

describe.skipIf(why !== undefined)(`the screen in the web console${why === undefined ? '' : ` (${why})`}`, () => {
  test('shows the machine, and what is typed in it reaches the guest', async () => {
    using state = newState()
    using folder = newFolder()
    const disk = join(folder.path, 'screen.img')
    buildScreenDisk(disk)
    const service = await startService({
      state: state.path,
      driver: 'qemu',
      env: { VMHOST_ROOT_PASSWORD: rootPassword, VMHOST_LISTEN: 'http://127.0.0.1:0', VMHOST_DEMO: 'off' },
    })
    const token = await service.signIn()
    const call = (method: string, path: string, body?: unknown) =>
      service.call(method, `/api/v1${path}`, { token, body })
    const created = await call('POST', '/machines', {
      name: 'seen',
      cpus: 1,
      memory: 32,
      display: true,
      disks: [{ path: disk, bus: 'ide' }],
    })
    expect(created.status, created.body.message).toBe(201)
    await call('PUT', '/machines/seen/start')
    const waitFor = async (pattern: string): Promise<void> => {
      const { body } = await call('GET', `/machines/seen/wait?for=${encodeURIComponent(`serial:${pattern}`)}`)
      expect(body.result).toBe('met')
    }
    await waitFor('>')

    await using browser = await openBrowser()
    await using console = await openConsole(browser, service.url)
    const { page } = console
    await signIn(console, 'root', rootPassword)
    await page.getByRole('link', { name: 'seen', exact: true }).click()
    await page.getByRole('link', { name: 'Screen', exact: true }).click()
    await page.getByRole('region', { name: 'Screen' }).getByText('Connected').waitFor()
    await page.keyboard.type('w')
    await waitFor('w')
    // Ctrl-] gives the keyboard back to the page.
    await page.keyboard.press('Control+]')
    expect(await page.evaluate('document.activeElement.closest(".screen") === null')).toBe(true)
    expect(console.faults).toEqual([])
    await call('PUT', '/machines/seen/stop?force=true')
    await page.getByText('The machine does not run.').waitFor()
    expect(await service.stop()).toBe(0)
  })
})

import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { withoutQemu } from '../support/drivers/qemu.ts'
import { newFolder } from '../support/folder.ts'
import { buildBootSectorDisk } from '../support/guests/boot-sector.ts'
import { rangesOf, startFileServer } from '../support/servers/file-server.ts'
import { newState, rootPassword, startService } from '../support/service.ts'
import { until } from '../support/waiting.ts'
import { findViolations } from '../support/web/accessibility.ts'
import { openBrowser, withoutChromium } from '../support/web/browser.ts'
import { openConsole, signIn, waitForOutput } from '../support/web/console-page.ts'

const pictures = 'docs/images'
const userPassword = 'Another-Horse-7-Battery'
const why = withoutChromium ?? (withoutQemu ? 'QEMU is not installed' : undefined)

const buildGuestDisk = (): Buffer => {
  using folder = newFolder()
  const path = join(folder.path, 'guest.img')
  buildBootSectorDisk(path)
  return readFileSync(path)
}

/** Takes a picture for the documents. */
const takePicture = async (page: Page, name: string): Promise<void> => {
  mkdirSync(pictures, { recursive: true })
  // Notices come and go.
  const dismiss = page.getByRole('button', { name: 'Dismiss' })
  while ((await dismiss.count()) > 0) await dismiss.first().click()
  await page.screenshot({ path: join(pictures, `${name}.png`) })
}

describe.skipIf(why !== undefined)(`the web console in a browser${why === undefined ? '' : ` (${why})`}`, () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser?.close())

  test.each(['pointer', 'keyboard'] as const)(
    'leads from the first link to a user with fewer rights, with the %s alone',
    async way => {
      using state = newState()
      await using server = await startFileServer()
      server.serve('/guest.img', rangesOf(buildGuestDisk()))
      const service = await startService({
        state: state.path,
        driver: 'qemu',
        env: { VMHOST_LISTEN: 'http://127.0.0.1:0', VMHOST_OUTGOING_ADDRESSES: '127.0.0.1', VMHOST_DEMO: 'off' },
      })
      const violations: string[] = []
      const check = async (page: Page): Promise<void> => void violations.push(...(await findViolations(page)))

      // 1. The first-access link.
      const link = /(http:\S+#\/link\/\S+)/.exec(service.printed)![1]!
      await using root = await openConsole(browser, link, way)
      const { page, act, press, fill } = root
      const open = (name: string) =>
        press(page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name, exact: true }))
      const heading = (name: string | RegExp) => page.getByRole('heading', { level: 1, name }).waitFor()
      await check(page)
      await fill(page.getByLabel('New password'), rootPassword)
      await fill(page.getByLabel('The same again'), rootPassword)
      await press(page.getByRole('button', { name: 'Set the password and sign in' }))
      await heading('Machines')
      await check(page)

      // 2. A machine from an image.
      await open('Images')
      await act('Pull an image', { Name: 'guest', Address: `${server.url}/guest.img` })
      await press(page.getByRole('link', { name: 'guest', exact: true }))
      await heading('guest')
      await check(page)
      await act('Create a machine', { Name: 'first', 'Memory in MB': '32' })
      await heading('first')
      await page.locator('.page > header .state', { hasText: 'running' }).waitFor()

      // 3. Its console, and typing in it.
      await press(page.getByRole('link', { name: 'Console', exact: true }))
      await page.getByText('Connected, you write').waitFor()
      await waitForOutput(root, /T [0-9a-f]{8}/)
      await page.keyboard.type('z')
      await waitForOutput(root, /z/)
      await page.keyboard.press('Control+]')
      await check(page)
      if (way === 'pointer') await takePicture(page, 'web-console-machine')

      // 4. A snapshot.
      await act('Make a snapshot', { Name: 'clean' })
      await page.getByRole('region', { name: 'Snapshots' }).getByText('clean', { exact: true }).waitFor()

      // 5. A fork.
      await press(page.getByRole('region', { name: 'Snapshots' }).getByRole('button', { name: 'Fork…' }))
      await root.submit('Fork', { Names: 'second' })
      await page.getByRole('status').getByRole('link', { name: 'second' }).waitFor()

      // 6. Back to the snapshot.
      await press(page.getByRole('region', { name: 'Snapshots' }).getByRole('button', { name: 'Revert…' }))
      await root.submit('Revert')
      await page.getByText('The machine is as it was at clean.').waitFor()
      await check(page)

      // 7. A push, after a change of the settings that was tried before.
      await press(page.getByRole('link', { name: 'Settings', exact: true }))
      await fill(page.getByLabel('Description'), 'the first one')
      await press(page.getByRole('button', { name: 'Try without changing' }))
      await page.getByRole('region', { name: 'What would change' }).getByText('the first one').waitFor()
      await press(page.getByRole('button', { name: 'Change', exact: true }))
      await page.getByText('The settings were changed.').waitFor()
      await check(page)
      await press(page.getByRole('link', { name: 'Close the settings' }))
      await act('Power off')
      await page.locator('.page > header .state', { hasText: 'stopped' }).waitFor()
      await act('Push to the catalog', { 'Catalog id': 'guest', Tags: 'base' })
      await press(page.getByRole('status').getByRole('link', { name: /a job has begun/ }))
      await heading(/push/i)
      await page.locator('.page > header .state', { hasText: 'completed' }).waitFor()
      await check(page)

      // 8. A pull.
      await open('Catalog')
      await check(page)
      await press(page.getByRole('link', { name: 'guest', exact: true }))
      await heading('guest 1.0')
      await check(page)
      await act('Pull', { 'Name of the machine': 'third' })
      await open('Jobs')
      await until(
        async () => expect(await page.locator('.state', { hasText: 'completed' }).count()).toBeGreaterThan(2),
        100,
      )
      await check(page)
      await open('Machines')
      for (const name of ['first', 'second', 'third']) await page.getByRole('link', { name, exact: true }).waitFor()
      if (way === 'pointer') await takePicture(page, 'web-console-machines')

      // 9. A user with a narrow role, who sees less.
      await open('Roles')
      await check(page)
      await act('Add a role', { Name: 'WATCH', Claims: 'LIST_VM' })
      await heading('WATCH')
      await check(page)
      await open('Users')
      await act('Add a user', {
        'User name': 'ann',
        'Full name': 'Ann',
        'E-mail address': 'ann@example.com',
        Password: userPassword,
        Roles: 'WATCH',
      })
      await heading('ann')
      await check(page)
      {
        await using ann = await openConsole(browser, service.url, way)
        await signIn(ann, 'ann', userPassword)
        const pages = ann.page.getByRole('navigation', { name: 'Pages' }).getByRole('listitem')
        expect(await pages.allTextContents()).toEqual([
          'Machines',
          'Pools',
          'Catalog',
          'Events',
          'Your account',
          'System',
        ])
        await ann.press(ann.page.getByRole('link', { name: 'first', exact: true }))
        await ann.page.getByRole('heading', { level: 1, name: 'first' }).waitFor()
        expect(await ann.page.getByRole('button', { name: /^(?:Start|Delete|Clone|Push)/ }).count()).toBe(0)
        // A right that she is given counts at once.
        await act('Add a claim', { Name: 'UPDATE_VM_STATES' })
        await ann.page.getByRole('button', { name: 'Start', exact: true }).waitFor()
        expect(ann.faults).toEqual([])
      }

      // The other pages.
      for (const name of [
        'Pools',
        'Cache',
        'Managers',
        'Events',
        'Claims',
        'API keys',
        'Your account',
        'Audit',
        'System',
      ]) {
        await open(name)
        await page.getByRole('heading', { level: 1 }).waitFor()
        await page.getByText('Loading…').waitFor({ state: 'detached' })
        await check(page)
      }
      await open('Audit')
      await page.getByRole('region', { name: 'Audit' }).waitFor()
      if (way === 'pointer') await takePicture(page, 'web-console-audit')

      // 10. The sign-out.
      await press(page.getByRole('button', { name: 'Sign out' }))
      await page.getByText('You have signed out.').waitFor()
      await check(page)
      expect(violations).toEqual([])
      expect(root.faults).toEqual([])
      expect(await service.stop()).toBe(0)
    },
  )
})

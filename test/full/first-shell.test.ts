import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { executableName } from '#build/executable/build.ts'
import { ownPlatform } from '#build/executable/targets.ts'
import { withoutQemu } from '../support/drivers/qemu.ts'
import { withoutExecutable } from '../support/executable.ts'
import { newFolder } from '../support/folder.ts'
import { findDebian } from '../support/guests/debian.ts'
import { describeRun } from '../support/measured/describe-run.ts'
import { writeFigures } from '../support/measured/write-figures.ts'
import { rangesOf, startFileServer } from '../support/servers/file-server.ts'
import { newState, rootPassword, startService } from '../support/service.ts'
import { until } from '../support/waiting.ts'
import { openBrowser, withoutChromium } from '../support/web/browser.ts'
import { openConsole, readTerminal, waitForOutput } from '../support/web/console-page.ts'

const document = 'docs/first-shell.md'
const consolePassword = 'Typed-0n-a-console'

const findGuest = async (): Promise<{ readonly disk: string } | string> => {
  if (withoutChromium !== undefined) return withoutChromium
  if (withoutQemu) return 'QEMU is not installed'
  return withoutExecutable ? 'npm run binary has not been run' : findDebian()
}
const guest = await findGuest()
const why = typeof guest === 'string' ? ` (${guest})` : ''

test.skipIf(why !== '')(`a newcomer gets from a release to a shell in a guest in the browser${why}`, async () => {
  if (typeof guest === 'string') throw new Error(guest)
  execFileSync(process.execPath, ['build/release.ts'], { stdio: 'ignore' })
  const name = executableName(ownPlatform)
  using folder = newFolder()
  using state = newState()
  await using server = await startFileServer()
  server.serve('/debian.qcow2', rangesOf(readFileSync(guest.disk)))
  await using browser = await openBrowser()

  const run = await describeRun(document)
  const steps: (readonly [what: string, seconds: number])[] = []
  const time = async <T>(what: string, work: () => T | Promise<T>): Promise<T> => {
    const begun = performance.now()
    const result = await work()
    const seconds = (performance.now() - begun) / 1000
    steps.push([what, seconds])
    process.stdout.write(`${seconds.toFixed(1).padStart(7)} s  ${what}\n`)
    return result
  }

  await time('unpack the release', () =>
    execFileSync('tar', ['-xzf', resolve('dist/release', `${name}.tar.gz`), '-C', folder.path]),
  )
  const service = await time('start the service, to the link that it prints', () =>
    startService({
      state: state.path,
      command: [join(folder.path, name, 'vmhost')],
      environment: {
        PATH: process.env['PATH'],
        HOME: folder.path,
        VMHOST_STATE: state.path,
        VMHOST_LISTEN: 'https://127.0.0.1:0',
        VMHOST_OUTGOING_ADDRESSES: '127.0.0.1',
      },
    }),
  )
  const link = /(https:\S+#\/link\/\S+)/.exec(service.printed)![1]!
  await using console = await openConsole(browser, link, 'pointer', { ignoreHTTPSErrors: true })
  const { page, act, press, fill } = console
  await time('open the link and choose a password', async () => {
    await fill(page.getByLabel('New password'), rootPassword)
    await fill(page.getByLabel('The same again'), rootPassword)
    await press(page.getByRole('button', { name: 'Set the password and sign in' }))
    await page.getByRole('heading', { level: 1, name: 'Machines' }).waitFor()
  })
  await time('pull the image', async () => {
    await press(page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Images', exact: true }))
    await act('Pull an image', { Name: 'debian', Address: `${server.url}/debian.qcow2` })
    await press(page.getByRole('link', { name: 'debian', exact: true }))
  })
  await time('create the machine, until it runs', async () => {
    await act('Create a machine', { Name: 'web', 'Memory in MB': '512', 'Console password': consolePassword })
    await page.locator('.page > header .state', { hasText: 'running' }).waitFor()
  })
  await time('boot the guest, until cloud-init has finished', async () => {
    await press(page.getByRole('link', { name: 'Console', exact: true }))
    await page.getByText('Connected, you write').waitFor()
    const hasFinished = () => waitForOutput(console, /Cloud-init .* finished/)
    // A translated guest on a busy host.
    await hasFinished().catch(hasFinished).catch(hasFinished).catch(hasFinished)
  })
  await time('sign in on the console, until a command has printed', async () => {
    await page.keyboard.press('Enter')
    await waitForOutput(console, /^web login:\s*$/m)
    await page.keyboard.type('debian\n')
    await waitForOutput(console, /Password: /)
    await page.keyboard.type(`${consolePassword}\n`)
    await waitForOutput(console, /debian@web:~\$/)
    await page.keyboard.type('echo "I am $(id -un) of $(uname -s)"\n')
    await until(async () => expect(await readTerminal(console)).toContain('I am debian of Linux'), 100)
  })
  expect(console.faults).toEqual([])

  const total = steps.reduce((sum, [, seconds]) => sum + seconds, 0)
  writeFigures(document, '## How long that takes', {
    run,
    heads: ['step', 'seconds'],
    rows: [...steps, ['together', total] as const].map(([what, seconds]) => [what, seconds.toFixed(1)]),
  })
  const { body } = await service.call('POST', '/api/v1/auth/token', { body: { email: 'root', password: rootPassword } })
  await service.call('PUT', '/api/v1/machines/web/stop?force=true', { token: body.token })
  expect(await service.stop()).toBe(0)
})

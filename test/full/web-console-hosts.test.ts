import { describe, expect, test } from 'vitest'
import { openCountingServer } from '../support/network/counting-server.ts'
import { newState, rootPassword, startService } from '../support/service.ts'
import { until } from '../support/waiting.ts'
import { findViolations } from '../support/web/accessibility.ts'
import { openBrowser, withoutChromium } from '../support/web/browser.ts'
import { openConsole, signIn } from '../support/web/console-page.ts'
import { startEdge } from '../support/workerd/edge.ts'

const issuer = 'https://control.example.test'

const findFreePort = async (): Promise<number> => {
  await using server = await openCountingServer('127.0.0.1')
  return server.port
}

const manifestOf = (catalogId: string, version: string, tags: readonly string[]) => ({
  catalog_id: catalogId,
  version,
  architecture: 'x86_64',
  type: 'qemu',
  description: `The ${catalogId} of the build farm`,
  tags,
  provider: { type: 'local-storage', meta: {} },
  size: 20 * 2 ** 30,
  pack_size: 2 ** 30,
  path: `/${catalogId}`,
})

describe.skipIf(withoutChromium !== undefined)(
  `the web console of a control (${withoutChromium ?? 'in Chromium'})`,
  () => {
    test('registers two hosts, uses their machines, and reads the catalog of another service', async () => {
      // The hosts of the test are on this computer.
      await using edge = await startEdge({
        network: ['public', 'private', 'local'],
        variables: {
          VMHOST_ROOT_PASSWORD: rootPassword,
          VMHOST_ISSUER: issuer,
          VMHOST_OUTGOING_ADDRESSES: '127.0.0.1',
        },
      })
      await using browser = await openBrowser()
      await using console = await openConsole(browser, edge.url)
      const { page, act, press } = console
      const violations: string[] = []
      const check = async (): Promise<void> => void violations.push(...(await findViolations(page)))
      const open = (name: string) =>
        press(page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name, exact: true }))
      await signIn(console, 'root', rootPassword)

      using states = new DisposableStack()
      const services = []
      for (const name of ['cellar', 'attic']) {
        await open('Hosts')
        const port = await findFreePort()
        const fields = { Name: name, Address: `http://127.0.0.1:${port}`, Labels: `floor=${name}` }
        await act('Register a host', fields)
        const key = await page.locator('.notice pre').textContent()
        await check()
        await press(page.getByRole('button', { name: 'Dismiss' }))
        await press(page.getByRole('link', { name, exact: true }))
        const id = await page.locator('.facts code').textContent()
        const state = states.use(newState())
        const service = await startService({
          state: state.path,
          env: {
            VMHOST_ROOT_PASSWORD: rootPassword,
            VMHOST_LISTEN: `http://127.0.0.1:${port}`,
            VMHOST_CONTROL_URL: edge.url,
            VMHOST_CONTROL_KEY: key!,
            VMHOST_TRUSTED_ISSUERS: JSON.stringify([
              { issuer, jwks: `${edge.url}/.well-known/jwks.json`, audience: id },
            ]),
          },
        })
        const token = await service.signIn()
        const call = (method: string, path: string, body?: object) =>
          service.call(method, `/api/v1${path}`, { token, body })
        const renamed = [{ group: 'machine', operation: 'rename', value: `demo-${name}` }]
        expect((await call('PUT', '/machines/demo/set', { operations: renamed })).status).toBe(200)
        services.push({ service, call })
        // The page learns it by an event of the heartbeat.
        await page.locator('.page > header .state', { hasText: 'reachable' }).waitFor()
      }
      await check()
      await open('Hosts')
      await until(async () => expect(await page.locator('tbody .state', { hasText: 'reachable' }).count()).toBe(2), 100)
      await press(page.getByRole('link', { name: 'attic', exact: true }))
      await act('Drain')
      await page.getByText('it gets no new machines').waitFor()
      await check()
      await open('Hosts')
      await page.locator('tbody .state', { hasText: 'drained' }).waitFor()
      await check()

      // The machines of both, with the host that each is on.
      await open('Machines')
      await press(page.getByRole('link', { name: 'demo-cellar', exact: true }))
      await press(page.getByRole('button', { name: 'Start', exact: true }))
      await page.locator('.page > header .state', { hasText: 'running' }).waitFor()
      await check()

      const [{ call } = services[0]!] = services
      for (const [catalogId, version, tags] of [
        ['debian', '12.7', ['stable']],
        ['debian', '13.1', []],
        ['runner', '4.2', ['stable', 'build']],
      ] as const)
        expect((await call('POST', '/catalog', manifestOf(catalogId, version, tags))).status).toBe(200)
      await open('Managers')
      await act('Add a catalog manager', {
        Name: 'cellar',
        Address: services[0]!.service.url,
        'User name': 'root',
        Password: rootPassword,
        'For all users': true,
      })
      await page.getByRole('link', { name: 'cellar', exact: true }).waitFor()
      await check()
      await press(page.getByRole('link', { name: 'cellar', exact: true }))
      await page.getByRole('link', { name: 'runner', exact: true }).waitFor()
      await check()
      await press(page.getByRole('link', { name: 'runner', exact: true }))
      await page.getByRole('heading', { level: 1, name: 'runner 4.2' }).waitFor()
      await check()

      expect(violations).toEqual([])
      expect(console.faults).toEqual([])
      for (const { service } of services) expect(await service.stop()).toBe(0)
    })
  },
)

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { newFolder } from '../support/folder.ts'
import { newState, rootPassword, type Service, startService } from '../support/service.ts'

/** A Chromium; `CHROMIUM` names another one than those of the path. */
const browser = [process.env['CHROMIUM'] ?? 'chromium', 'chromium-browser', 'google-chrome'].find(
  program => spawnSync(program, ['--version']).status === 0,
)

/** Calls the service from a page of another origin, and sends what came of it to the server of the page. */
const page = (url: string): string => `<!doctype html><script type="module">
import { createClient } from '/client.mjs'
const client = createClient({ url: '${url}', retries: 20, signIn: { username: 'root', password: '${rootPassword}' } })
const post = (path, value) => fetch(path, { method: 'POST', body: JSON.stringify(value) })
try {
  const { api } = client
  const names = (await api.machines.list()).map(machine => machine.Name)
  const { cursor } = await api.events.list({ query: { limit: 1000 } })
  const { result } = await client.follow(await api.machines.start({ params: { id: 'demo' }, async: true }))
  const socket = await api.events.subscribe()
  const opened = await new Promise(settle => { socket.onmessage = ({ data }) => settle(JSON.parse(data).event_type) })
  const seen = []
  for await (const { message, body } of client.events({ types: ['pdfm', 'auth'], since: cursor })) {
    if (message === 'VM_STATE_CHANGED') seen.push(body.current_state)
    if (message === 'CLAIM_ADDED') seen.push(body.claim_id)
    if (body?.current_state === 'running') {
      await api.claims.create({ body: { name: 'BEFORE' } })
      await post('/restart')
      await api.claims.create({ body: { name: 'AFTER' } })
    }
    if (seen.includes('AFTER')) break
  }
  await post('/report', { names, result: result.status, opened, seen })
} catch (error) {
  await post('/report', { error: String(error) })
}
</script>
`

/** Serves the page and the client, and restarts the service when the page asks for it; gives what the page reports. */
const servePage = async (html: () => string, restart: () => Promise<void>) => {
  const server = createServer()
  const reported = new Promise<unknown>((settle, fail) => {
    const answers: Readonly<Record<string, (request: IncomingMessage) => string | Promise<string>>> = {
      '/client.mjs': () => readFileSync('dist/client.mjs', 'utf8'),
      '/restart': () => restart().then(() => ''),
      '/report': async request => {
        settle(JSON.parse(await text(request)))
        return ''
      },
    }
    server.on('request', async (request: IncomingMessage, response) => {
      const { url = '' } = request
      response.setHeader('Content-Type', url.endsWith('.mjs') ? 'text/javascript' : 'text/html')
      try {
        response.end(await (answers[url] ?? html)(request))
      } catch (error) {
        fail(error)
      }
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // A server that listens on a port has an address.
  return { server, reported, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

test.skipIf(browser === undefined)(
  `the built client works in a page of another origin${browser === undefined ? ' (Chromium is not installed)' : ''}`,
  async () => {
    using state = newState()
    using profile = newFolder()
    let service: Service
    const start = async (listen: string): Promise<void> => {
      service = await startService({
        state: state.path,
        env: { VMHOST_ROOT_PASSWORD: rootPassword, VMHOST_LISTEN: listen, VMHOST_CORS_ORIGINS: origin },
      })
    }
    const { server, reported, origin } = await servePage(
      () => page(service.url),
      async () => {
        await service.kill()
        await start(service.url)
      },
    )
    await start('http://127.0.0.1:0')
    const args = ['--headless=new', '--no-sandbox', '--disable-gpu', `--user-data-dir=${profile.path}`, origin]
    const child = spawn(browser!, args, { stdio: 'ignore' })
    try {
      expect(await reported).toEqual({
        names: ['demo'],
        result: 'Success',
        opened: 'global',
        // The machine was in the killed process.
        seen: ['starting', 'running', 'BEFORE', 'stopped', 'AFTER'],
      })
    } finally {
      child.kill('SIGKILL')
      server.close()
      await service!.stop()
    }
  },
)

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { newFolder } from '../support/folder.ts'
import { newState, rootPassword, startService } from '../support/service.ts'

/** A Chromium; `CHROMIUM` names another one than those of the path. */
const browser = [process.env['CHROMIUM'] ?? 'chromium', 'chromium-browser', 'google-chrome'].find(
  program => spawnSync(program, ['--version']).status === 0,
)

/** Calls the service from a page of another origin, and sends what came of it to the server of the page. */
const page = (url: string): string => `<!doctype html><script type="module">
import { createClient } from '/client.mjs'
const client = createClient({ url: '${url}', signIn: { username: 'root', password: '${rootPassword}' } })
const report = value => fetch('/report', { method: 'POST', body: JSON.stringify(value) })
try {
  const { api } = client
  const { cursor } = await api.events.list({ query: { limit: 1000 } })
  const { result } = await client.follow(await api.machines.start({ params: { id: 'demo' }, async: true }))
  const states = []
  for await (const event of client.events({ types: ['pdfm'], since: cursor })) {
    if (event.message === 'VM_STATE_CHANGED') states.push(event.body.current_state)
    if (states.includes('running')) break
  }
  const socket = await api.events.subscribe()
  const opened = await new Promise(settle => { socket.onmessage = ({ data }) => settle(JSON.parse(data).event_type) })
  await report({ result: result.status, states, opened })
} catch (error) {
  await report({ error: String(error) })
}
</script>
`

/** Serves the page and the client; gives what the page reports. */
const servePage = async (html: () => string) => {
  const server = createServer()
  const reported = new Promise<unknown>(settle => {
    server.on('request', (request: IncomingMessage, response) => {
      const { url } = request
      const isScript = url === '/client.mjs'
      response.setHeader('Content-Type', isScript ? 'text/javascript' : 'text/html')
      if (url === '/report') void text(request).then(body => settle(JSON.parse(body)))
      response.end(url === '/report' ? '' : isScript ? readFileSync('dist/client.mjs') : html())
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
    let url = ''
    const { server, reported, origin } = await servePage(() => page(url))
    const service = await startService({
      state: state.path,
      env: {
        VMHOST_ROOT_PASSWORD: rootPassword,
        VMHOST_LISTEN: 'http://127.0.0.1:0',
        VMHOST_CORS_ORIGINS: origin,
      },
    })
    url = service.url
    const args = ['--headless=new', '--no-sandbox', '--disable-gpu', `--user-data-dir=${profile.path}`, origin]
    const child = spawn(browser!, args, { stdio: 'ignore' })
    try {
      expect(await reported).toEqual({ result: 'Success', states: ['starting', 'running'], opened: 'global' })
    } finally {
      child.kill('SIGKILL')
      server.close()
      await service.stop()
    }
  },
)

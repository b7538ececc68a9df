import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, test } from 'vitest'
import { newFolder } from '../support/folder.ts'
import { newState, rootPassword, startService } from '../support/service.ts'

/** Where the program is; the package has no types. */
const { default: workerd } = createRequire(import.meta.url)('workerd') as { default: string }

/** A Worker without the compatibility with Node. It calls the service whose address it is asked with. */
const worker = `import { createClient, VmhostError } from './client.mjs'
export default {
  async fetch(request) {
    const url = await request.text()
    const client = createClient({ url, signIn: { username: 'root', password: '${rootPassword}' } })
    const { api } = client
    const before = (await api.events.list({ query: { limit: 1000 } })).cursor
    const { result } = await client.follow(await api.machines.start({ params: { id: 'demo' }, async: true }))
    const states = []
    for await (const event of client.events({ types: ['pdfm'], since: before })) {
      if (event.message === 'VM_STATE_CHANGED') states.push(event.body.current_state)
      if (states.includes('running')) break
    }
    const refused = await api.machines.show({ params: { id: 'nobody' } }).catch(error => error)
    await api.machines.stop({ params: { id: 'demo' }, query: { force: true } })
    return Response.json({
      result: result.status,
      states,
      refused: refused instanceof VmhostError && refused.status,
      metrics: (await api.metrics.show()).includes('# HELP'),
    })
  },
}
`

const config = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "worker", worker = (
      modules = [
        (name = "worker.mjs", esModule = embed "worker.mjs"),
        (name = "client.mjs", esModule = embed "client.mjs"),
      ],
      compatibilityDate = "2026-07-01",
    )),
    (name = "internet", network = (allow = ["private"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "worker")],
);
`

test('the built client works in a Worker', async () => {
  using state = newState()
  using folder = newFolder()
  const service = await startService({
    state: state.path,
    env: { VMHOST_ROOT_PASSWORD: rootPassword, VMHOST_LISTEN: 'http://127.0.0.1:0' },
  })
  writeFileSync(join(folder.path, 'worker.mjs'), worker)
  writeFileSync(join(folder.path, 'config.capnp'), config)
  cpSync('dist/client.mjs', join(folder.path, 'client.mjs'))
  const child = spawn(workerd, ['serve', '--control-fd=1', join(folder.path, 'config.capnp')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const [line] = (await once(createInterface(child.stdout), 'line')) as [string]
    const { port } = JSON.parse(line) as { port: number }
    const response = await fetch(`http://127.0.0.1:${port}`, { method: 'POST', body: service.url })
    expect(await response.json()).toEqual({
      result: 'Success',
      states: ['starting', 'running'],
      refused: 404,
      metrics: true,
    })
  } finally {
    child.kill('SIGKILL')
    await service.stop()
  }
})

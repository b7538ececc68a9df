import { once } from 'node:events'
import { expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { newState, rootPassword, startService } from '../../support/service.ts'

test('SIGUSR1 opens no debugger, neither of the service nor of its events process', async () => {
  using state = newState()
  const service = await startService({
    state: state.path,
    // The address on which Node's debugger would listen.
    env: {
      VMHOST_ROOT_PASSWORD: rootPassword,
      VMHOST_EVENTS: 'process',
      VMHOST_LISTEN: 'http://127.0.0.1:0',
      NODE_OPTIONS: '--inspect-port=0',
    },
  })
  const token = await service.signIn()
  const address = `${service.url.replace(/^http/, 'ws')}/api/v1/ws/subscribe`
  const reader = new WebSocket(address, { headers: { authorization: `Bearer ${token}` } })
  await once(reader, 'message')
  const pids = [service.pid, service.eventsProcess()!]
  for (const pid of pids) process.kill(pid, 'SIGUSR1')
  // Node starts its debugger in the turn in which it handles the signal. This waits for many turns.
  for (let at = 0; at < 20; at += 1) expect((await service.call('GET', '/api/v1/machines', { token })).status).toBe(200)
  expect(service.log()).not.toContain('Debugger listening')
  expect(service.eventsProcess()).toBe(pids[1])
  reader.terminate()
  expect(await service.stop()).toBe(0)
})

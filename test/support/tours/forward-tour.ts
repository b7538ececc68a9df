import { expect } from 'vitest'
import { newState, rootPassword, startService } from '../service.ts'

/** The endpoints that only machines on QEMU have. */
export const forwardEndpoints = [
  'machines/add-forward',
  'machines/fork',
  'machines/remove-forward',
  'machines/create-snapshot',
  'machines/list-snapshots',
  'machines/show-snapshot',
  'machines/update-snapshot',
  'machines/revert-to-snapshot',
  'machines/delete-snapshot',
  'machines/delete-snapshots',
  'snapshot-schedules/set',
  'snapshot-schedules/list',
  'snapshot-schedules/delete',
] as const

/** Calls each endpoint that only machines on QEMU have once; `keep` gets what it was asked and what it answered. */
export const takeForwardTour = async (keep: (id: string, body: unknown, reply: unknown) => void): Promise<void> => {
  using state = newState()
  const service = await startService({
    state: state.path,
    driver: 'qemu',
    env: { VMHOST_ROOT_PASSWORD: rootPassword, VMHOST_DEMO: 'off' },
  })
  const token = await service.signIn()
  const take = async (id: string, method: string, path: string, body?: unknown): Promise<void> => {
    const answer = await service.call(method, `/api/v1/machines${path}`, { token, body })
    expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300)
    if (id !== '') keep(id, body, answer.body)
  }
  await take('', 'POST', '', { name: 'web', memory: 64, disks: [{ size: 16 }] })
  await take('machines/add-forward', 'POST', '/web/forwards', { host_port: 8022, guest_port: 22 })
  await take('machines/remove-forward', 'DELETE', '/web/forwards/tcp:127.0.0.1:8022')
  const clean = { snapshot_name: 'clean', snapshot_description: 'As installed' }
  await take('machines/create-snapshot', 'POST', '/web/snapshots', clean)
  await take('machines/update-snapshot', 'PUT', '/web/snapshots/clean', { snapshot_name: 'installed' })
  await take('', 'POST', '/web/snapshots', { snapshot_name: 'tools' })
  await take('machines/list-snapshots', 'GET', '/web/snapshots?group=true')
  await take('machines/show-snapshot', 'GET', '/web/snapshots/installed')
  await take('machines/revert-to-snapshot', 'POST', '/web/snapshots/installed/revert', { skip_resume: false })
  const nightly = { at: ['03:00'], memory: false, keep: { daily: 7, weekly: 4 } }
  await take('snapshot-schedules/set', 'PUT', '/web/snapshot-schedules/nightly', nightly)
  await take('snapshot-schedules/list', 'GET', '/web/snapshot-schedules')
  await take('snapshot-schedules/delete', 'DELETE', '/web/snapshot-schedules/nightly')
  await take('machines/delete-snapshot', 'DELETE', '/web/snapshots/tools', { delete_children: true })
  await take('machines/delete-snapshots', 'DELETE', '/web/snapshots')
  await take('', 'PUT', '/web/start')
  await take('machines/fork', 'POST', '/web/fork', { names: ['web-a', 'web-b'], labels: { use: 'test' }, ttl: 3600 })
  for (const name of ['web-a', 'web-b', 'web']) await take('', 'DELETE', `/${name}?force=true`)
  await service.stop()
}

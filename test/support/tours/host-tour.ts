import { recordTemplate } from '#lib/machines/record-template.ts'
import { openControl } from '../hosts/control.ts'
import { openClient } from '../hosts/control-client.ts'

/** Calls each endpoint of hosts once; `keep` gets what it was asked and what it answered. */
export const takeHostTour = async (keep: (id: string, body: unknown, reply: unknown) => void): Promise<void> => {
  await using control = await openControl()
  const client = await openClient(control.app)
  const take = async (id: string, line: string, body?: unknown, headers?: Record<string, string>) => {
    const [method = '', path = ''] = line.split(' ')
    const answer = await client.asRoot(method, path, body, headers)
    if (answer.status >= 300) throw new Error(`${line} answered ${answer.status}`)
    keep(id, body, answer.body)
    return answer.body
  }
  const url = 'https://host-1.example.org:8443'
  const host = await take('hosts/create', 'POST /hosts', { name: 'host-1', url, labels: { zone: 'a' } })
  const ID = '00000000-0000-4000-8000-000000000001'
  const heartbeat = {
    version: '0.1.0',
    driver: 'qemu',
    architecture: 'x86_64',
    capacity: { cpus: 16, memory: 65_536, free_memory: 32_768 },
    machines: { tag: 'f2a1c0d4', ids: [ID], changed: [{ ...recordTemplate, ID, Name: 'web' }] },
    events: {
      after: 'f2a1c0d4-106',
      next: 'f2a1c0d4-107',
      entries: [
        {
          id: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
          event_type: 'pdfm',
          timestamp: '2026-01-02T03:04:05.000Z',
          message: 'VM_STATE_CHANGED',
          body: { vm_id: ID, previous_state: 'starting', current_state: 'running' },
        },
      ],
    },
  }
  await take('hosts/heartbeat', `PUT /hosts/${host.id}/heartbeat`, heartbeat, { 'x-host-key': host.key })
  await take('hosts/list', 'GET /hosts')
  await take('hosts/show', 'GET /hosts/host-1')
  await take('hosts/update', 'PUT /hosts/host-1', { labels: { zone: 'b' } })
  await take('hosts/drain', 'PUT /hosts/host-1/drain')
  await take('hosts/undrain', 'PUT /hosts/host-1/undrain')
  await take('hosts/delete', 'DELETE /hosts/host-1')
}

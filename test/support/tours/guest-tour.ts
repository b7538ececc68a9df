import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import execute from '#functions/machines/execute.ts'
import readFile from '#functions/machines/read-file.ts'
import showCloudInit from '#functions/machines/show-cloud-init.ts'
import writeFile from '#functions/machines/write-file.ts'
import showConsole from '#functions/machines/console.ts'
import wait from '#functions/machines/wait.ts'
import { every } from '#lib/async/every.ts'
import { createTunnels } from '#lib/machines/tunnels/tunnels.ts'
import { connectAgent } from '#lib/hypervisor/agent/agent.ts'
import { createApp } from '#lib/http/app.ts'
import { openMachines } from '#lib/machines/machines.ts'
import { createSimulatedDriver } from '../drivers/simulated-driver.ts'
import { newEventLog } from '../events.ts'
import { newFolder } from '../folder.ts'
import { finishedCloudInit } from '../guests/cloud-init-status.ts'
import { startFakeAgent } from '../guests/fake-agent.ts'
import { callOf, host } from '../harness.ts'
import { refuseImage } from '../images.ts'

/** Calls each endpoint that needs the agent of a guest once; `keep` gets what it was asked and what it answered. */
export const takeGuestTour = async (keep: (id: string, body: unknown, reply: unknown) => void): Promise<void> => {
  using folder = newFolder()
  const driver = createSimulatedDriver(folder.path)
  const fake = startFakeAgent()
  const agent = connectAgent(fake.stream)
  driver.agent = agent
  const machines = await openMachines({
    driver,
    host,
    leaseImage: refuseImage,
    stopTimeout: 200,
    ...(await newEventLog()),
  })
  await machines.create({ name: 'web', description: '', cpus: 1, memory: 64, disks: [{ size: 1 }] })
  await machines.run('web', 'start')
  const claims = new Set(['EXECUTE_COMMAND_VM', 'LIST_VM'])
  using tunnels = createTunnels(every)
  const app = createApp({
    routes: [
      { id: 'machines/execute', endpoint: execute },
      { id: 'machines/read-file', endpoint: readFile },
      { id: 'machines/show-cloud-init', endpoint: showCloudInit },
      { id: 'machines/write-file', endpoint: writeFile },
      { id: 'machines/console', endpoint: showConsole },
      { id: 'machines/wait', endpoint: wait },
    ],
    services: { machines, tunnels },
    authenticate: async () => ({
      id: host.id,
      username: 'root',
      email: 'root@localhost',
      roles: [],
      claims,
      superUser: false,
    }),
    onOutcome: () => {},
    checkReplies: true,
  })
  const call = callOf(app)
  const body = {
    command: 'echo "built by $BUILDER"',
    environment_variables: { BUILDER: 'ci' },
    working_directory: '/tmp',
    timeout: 60,
  }
  keep('machines/execute', body, (await call('PUT', '/api/v1/machines/web/execute', { body })).body)
  const files = `/api/v1/machines/web/files?path=${encodeURIComponent(join(folder.path, 'motd'))}`
  const written = await call('PUT', files, { body: Buffer.from('Welcome\n') })
  keep('machines/write-file', undefined, { ...written.body, path: '/etc/motd' })
  keep('machines/read-file', undefined, (await call('GET', files)).body)
  writeFileSync(join(machines.show('web').Home, 'serial.log'), 'Debian GNU/Linux 12 web ttyS0\n\nweb login: ')
  const { body: waited } = await call('GET', `/api/v1/machines/web/wait?for=${encodeURIComponent('serial:login: $')}`)
  keep('machines/wait', undefined, waited)
  keep('machines/console', undefined, (await call('GET', '/api/v1/machines/web/console?follow=false')).body)
  fake.files.set('/run/cloud-init/status.json', join(folder.path, 'status.json'))
  writeFileSync(join(folder.path, 'status.json'), JSON.stringify(finishedCloudInit))
  const shown = await call('GET', '/api/v1/machines/web/cloud-init')
  keep('machines/show-cloud-init', undefined, shown.body)
  agent.close()
  await machines.close()
}

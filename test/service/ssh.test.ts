import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { newFolder } from '../support/folder.ts'
import { newState, rootPassword, startService } from '../support/service.ts'
import { sshdInstalled, startSshd } from '../support/servers/sshd.ts'

test.skipIf(!sshdInstalled)(
  'the service runs a command over SSH, and neither logs its output nor its key',
  async () => {
    using state = newState()
    using home = newFolder()
    await using sshd = await startSshd(home.path)
    const env = { VMHOST_ROOT_PASSWORD: rootPassword, VMHOST_DEMO: 'off', VMHOST_LOG: 'debug' }
    const service = await startService({ state: state.path, env })
    const token = await service.signIn()
    const execute = (body: object) => service.call('POST', '/api/v1/ssh/execute', { token, body })
    const request = { host: '127.0.0.1', port: sshd.port, username: sshd.username, key: sshd.key }

    expect(await execute({ ...request, command: 'echo the-output; exit 4' })).toMatchObject({
      status: 200,
      body: { output: 'the-output\n', error: 'Process exited with status 4' },
    })
    expect(readFileSync(join(state.path, 'ssh/known_hosts'), 'utf8')).toContain(sshd.hostKey)
    expect(await execute({})).toMatchObject({ status: 400, body: { message: expect.stringContaining('host') } })
    expect(await execute({ ...request, key: undefined, command: 'x' })).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('password or key is missing') },
    })
    const empty = await service.call('POST', '/api/v1/ssh/execute', { token })
    expect(empty).toMatchObject({ status: 400, body: { message: expect.stringContaining('host') } })
    const audit = (await service.call('GET', '/api/v1/audit?operation=ssh/execute', { token })).body.entries
    expect(audit.at(-1)).toMatchObject({ outcome: 'done', details: { host: '127.0.0.1', username: sshd.username } })
    expect(JSON.stringify(audit) + service.log()).not.toMatch(/the-output|OPENSSH/)
    await service.stop()
  },
)

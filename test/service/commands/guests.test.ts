import { randomBytes } from 'node:crypto'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { getSmallLinux } from '../../support/guests/linux.ts'
import { decodePng } from '../../support/guests/png.ts'
import { openEchoTunnel } from '../../support/commands/echo-tunnel.ts'
import { withoutGuests } from '../../support/network/requirements.ts'
import { newState, rootPassword, runProgram, startService } from '../../support/service.ts'
import { signInElsewhere } from '../../support/commands/sign-in-elsewhere.ts'
import { until } from '../../support/waiting.ts'

/** A folder for a command, and the environment that leads it to the service. */
interface Caller {
  readonly path: string
  readonly env?: Readonly<Record<string, string>>
}

/** Creates what runs commands of a caller. */
const createRunner = ({ path, env = {} }: Caller) => {
  const vmhost = (args: readonly string[], stdin = '') => runProgram(args, env, path, stdin)
  const expectDone = async (line: string): Promise<string> => {
    const { code, stdout, stderr } = await vmhost(line.split(' '))
    expect(code, `${line}: ${stderr}`).toBe(0)
    return stdout
  }
  return { vmhost, expectDone, readGuest: (machine: string, file: string) => expectDone(`exec ${machine} cat ${file}`) }
}

/** Expects the commands that reach into the guest of the running machine `linux` to do their work. */
const expectGuestCommands = async (caller: Caller): Promise<void> => {
  const { path, env } = caller
  const { vmhost, expectDone } = createRunner(caller)
  expect(await vmhost(['exec', 'linux', 'echo out; echo wrong >&2; exit 7'])).toEqual({
    ...{ code: 7, stdout: 'out\n', stderr: 'wrong\n' },
  })
  const input = ['exec', '--input', '-', '--env', 'NAME=a b', 'linux', 'sh', '-c', 'cat; echo "$NAME"']
  expect(await vmhost(input, 'from here, ')).toEqual({ code: 0, stdout: 'from here, a b\n', stderr: '' })

  const content = randomBytes(3_000_000)
  const [sent, received] = [join(path, 'sent'), join(path, 'received')]
  writeFileSync(sent, content, { mode: 0o750 })
  expect(await expectDone(`cp ${sent} linux:/tmp/`)).toBe('Copied 3000000 bytes to linux:/tmp/sent.\n')
  expect(await expectDone('exec linux stat -c %a /tmp/sent')).toBe('750\n')
  await expectDone(`cp linux:/tmp/sent ${received}`)
  expect(readFileSync(received).equals(content)).toBe(true)
  expect(await vmhost(['cp', 'linux:/tmp/nothing', received])).toMatchObject({ code: 4 })
  expect(statSync(received).size).toBe(content.length)

  const tunnel = openEchoTunnel('linux', path, env)
  await tunnel.echo('x'.repeat(1_000_000))
  tunnel.closeInput()
  expect(await tunnel.end()).toEqual({ code: 0, stderr: '' })

  const mark = `console-${path.slice(-6)}`
  const console = await vmhost(['console', 'linux'], `echo ${mark}''-typed\r\x1d`)
  expect(console).toMatchObject({ code: 0, stdout: expect.stringContaining('GUEST:READY') })
  expect(await expectDone(`machines wait linux serial:${mark}-typed`)).toMatch(/^result +met$/m)

  const picture = join(path, 'screen.png')
  await expectDone(`machines screenshot linux --output ${picture}`)
  expect(decodePng(readFileSync(picture)).width).toBeGreaterThan(100)
}

/** Expects snapshots and forks of the running machine `linux` to have the files that it has at their moment. */
const expectCopies = async (caller: Caller): Promise<void> => {
  const { vmhost, expectDone, readGuest } = createRunner(caller)
  expect(await vmhost(['exec', 'linux', 'echo before >/tmp/file'])).toMatchObject({ code: 0 })
  expect(await expectDone('machines snapshots create linux clean')).toMatch(/^Created clean \(/)
  expect(await vmhost(['exec', 'linux', 'echo after >/tmp/file'])).toMatchObject({ code: 0 })
  expect(await expectDone('machines snapshots list linux')).toMatch(/^clean .* poweron /m)
  await expectDone('machines snapshots update linux clean --name first')
  expect(await expectDone('machines snapshots revert linux first')).toBe('linux is reverted to first.\n')
  await until(async () => expect(await readGuest('linux', '/tmp/file')).toBe('before\n'))
  expect(await expectDone('machines snapshots delete linux first')).toBe('Deleted first.\n')

  expect(await expectDone('machines fork linux one two --ephemeral')).toMatch(/ one +running\n.* two +running\n/)
  for (const name of ['one', 'two']) {
    await until(async () => expect(await readGuest(name, '/tmp/file')).toBe('before\n'))
    await until(async () => expect(await readGuest(name, '/proc/sys/kernel/hostname')).toBe(`${name}\n`))
    await expectDone(`machines delete ${name} --force`)
  }
}

describe.skipIf(withoutGuests !== undefined)(withoutGuests ?? 'commands that reach into a guest', () => {
  test('do their work on this host, and from elsewhere after a sign-in', async () => {
    using state = newState()
    const { kernel, initrd, cmdline } = getSmallLinux()
    const env = { VMHOST_ROOT_PASSWORD: rootPassword, VMHOST_ALLOWED_FOLDERS: dirname(kernel), VMHOST_DEMO: 'off' }
    const service = await startService({ state: state.path, driver: 'qemu', env })
    const boot = ['--kernel', kernel, '--initrd', initrd, '--cmdline', cmdline]
    const create = ['machines', 'create', 'linux', '--memory', '128', '--display', ...boot, '--until', 'agent']
    expect(await runProgram(create, {}, state.path)).toMatchObject({
      ...{ code: 0, stdout: expect.stringMatching(/^Created linux \(/) },
    })
    await expectGuestCommands(state)
    using elsewhere = await signInElsewhere(service.url, { password: rootPassword })
    await expectGuestCommands(elsewhere)
    await expectCopies(elsewhere)
    expect(await service.stop()).toBe(0)
  })
})

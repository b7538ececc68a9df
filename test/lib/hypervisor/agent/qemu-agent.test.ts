import { createHash, randomBytes } from 'node:crypto'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Agent } from '#lib/hypervisor/agent/agent.ts'
import { runInGuest } from '#lib/hypervisor/agent/guest-command.ts'
import { openGuestFile } from '#lib/hypervisor/agent/guest-file.ts'
import { describePosixProgram } from '#lib/hypervisor/agent/guest-program.ts'
import type { NewMachine } from '#lib/hypervisor/definition.ts'
import { openQemuBench, type QemuBench } from '../../../support/drivers/qemu-bench.ts'
import { withoutQemu } from '../../../support/drivers/qemu.ts'
import { getSmallLinux, withoutLinux } from '../../../support/guests/linux.ts'
import { until } from '../../../support/waiting.ts'

const skip = withoutQemu ? 'QEMU is not installed' : withoutLinux

/** Starts the small Linux and waits until its agent has told about it. */
const startLinux = async (bench: QemuBench, name: string): Promise<string> => {
  const { kernel, initrd, cmdline } = getSmallLinux()
  const machine: NewMachine = {
    name,
    description: '',
    cpus: 1,
    memory: 160,
    disks: [{ size: 64 }],
    kernel,
    initrd,
    cmdline,
  }
  const { id } = await bench.driver.create({ ...machine, machine_type: 'q35' })
  await bench.run(id, 'start')
  await bench.waitForView(id, { guest: { agentVersion: expect.any(String) } })
  return id
}
const run = async (agent: Agent, line: string, options: { outputLimit?: number; signal?: AbortSignal } = {}) => {
  const program = describePosixProgram({ command: ['/bin/sh', '-c', line] })
  const { stdout, stderr, exitCode, wasKilled } = await runInGuest(agent, program, {
    outputLimit: 10_000,
    signal: AbortSignal.timeout(60_000),
    ...options,
  })
  return {
    stdout: stdout.bytes.toString(),
    stderr: stderr.bytes.toString(),
    exitCode,
    wasKilled,
    isCut: stdout.isTruncated,
  }
}

test.skipIf(skip !== undefined)(
  'a real agent tells the address, runs commands, moves files and shuts down',
  { timeout: 600_000 },
  async () => {
    await using bench = await openQemuBench()
    const id = await startLinux(bench, 'linux')
    await until(async () => expect((await bench.get(id)).addresses[0]).toEqual({ ip: '10.0.2.15', type: 'ipv4' }))
    expect(bench.events.at(-1)).toMatchObject({ view: { addresses: [{ ip: '10.0.2.15' }] }, cause: 'guest' })
    const agent = await bench.driver.openAgent!(id)

    expect(await run(agent, 'echo out; echo err >&2; echo $HOME; exit 3')).toMatchObject({
      stdout: 'out\n/root\n',
      stderr: 'err\n',
      exitCode: 3,
    })
    expect(await run(agent, 'head -c 3000000 /dev/zero | tr "\\0" x', { outputLimit: 1_000 })).toMatchObject({
      stdout: 'x'.repeat(1_000),
      isCut: true,
    })
    const killed = run(agent, 'echo begun; sleep 5000 & sleep 5000; true', { signal: AbortSignal.timeout(1_500) })
    expect(await killed).toMatchObject({ stdout: 'begun\n', wasKilled: true })
    expect((await run(agent, 'ps')).stdout).not.toContain('sleep 5000')

    const content = randomBytes(5_000_000)
    const signal = AbortSignal.timeout(120_000)
    {
      await using file = await openGuestFile(agent, '/tmp/big', 'wb', signal)
      await file.write(content, signal)
    }
    const digest = createHash('sha256').update(content).digest('hex')
    expect((await run(agent, 'sha256sum /tmp/big')).stdout).toContain(digest)
    const parts: Buffer[] = []
    {
      await using file = await openGuestFile(agent, '/tmp/big', 'rb', signal)
      expect(await file.measure(signal)).toBe(content.length)
      for (let bytes = await file.read(signal); bytes.length > 0; bytes = await file.read(signal)) parts.push(bytes)
    }
    expect(Buffer.concat(parts).equals(content)).toBe(true)

    // The guest ignores its power button, so it is the agent that shuts it down.
    await run(agent, 'touch /tmp/ignore-power-button')
    expect(await bench.run(id, 'stop')).toMatchObject({ state: 'stopped', addresses: [] })
    expect(await bench.get(id)).not.toHaveProperty('guest')
    await expect(bench.driver.openAgent!(id)).rejects.toMatchObject({ fault: 'conflict' })
  },
)

test.skipIf(skip !== undefined)(
  'the clock of a guest is right after a resume, and the agent is found again',
  { timeout: 600_000 },
  async () => {
    await using bench = await openQemuBench()
    const id = await startLinux(bench, 'sleeper')
    /** Returns the seconds by which the clock of the guest is wrong, whatever time the answer takes. */
    const readSkew = async (): Promise<number> => {
      const agent = await bench.driver.openAgent!(id)
      const begun = Date.now() / 1000
      const seconds = Number((await run(agent, 'date +%s')).stdout)
      return Math.max(begun - seconds, seconds - Date.now() / 1000, 0)
    }
    expect(await readSkew()).toBeLessThan(4)
    await run(await bench.driver.openAgent!(id), 'date -s @1000000000')
    expect(await readSkew()).toBeGreaterThan(1e6)
    await bench.run(id, 'pause')
    await bench.run(id, 'resume')
    await until(async () => expect(await readSkew()).toBeLessThan(4))

    await run(await bench.driver.openAgent!(id), 'date -s @1000000000')
    await bench.run(id, 'suspend')
    expect((await bench.get(id)).addresses).toEqual([])
    await bench.run(id, 'resume')
    await bench.waitForView(id, { guest: { agentVersion: expect.any(String) } })
    await until(async () => expect(await readSkew()).toBeLessThan(4))

    // The next start of the service finds the agent again.
    await bench.close()
    await bench.open()
    await until(async () => expect((await bench.get(id)).addresses[0]).toMatchObject({ ip: '10.0.2.15' }))
    expect(await readSkew()).toBeLessThan(4)
  },
)

test.skipIf(skip !== undefined)(
  'the clone of a running machine has what its guest wrote last, and the guest goes on',
  { timeout: 600_000 },
  async () => {
    await using bench = await openQemuBench()
    const id = await startLinux(bench, 'source')
    const agent = await bench.driver.openAgent!(id)
    expect(await run(agent, 'mke2fs /dev/vda && mount /dev/vda /mnt && echo kept > /mnt/file')).toMatchObject({
      exitCode: 0,
    })
    const clone = async (name: string) => {
      const reached: string[] = []
      const { id: cloned } = await bench.driver.clone(id, name, {
        linked: false,
        deadline: AbortSignal.timeout(60_000),
        onProgress: () => {},
        onConsistency: consistency => void reached.push(consistency),
      })
      return { id: cloned, reached }
    }
    const copy = await clone('copy')
    expect(copy.reached).toEqual(['filesystem'])
    expect(await run(agent, 'echo more > /mnt/file && cat /mnt/file')).toMatchObject({ stdout: 'more\n' })
    expect(readdirSync((await bench.get(id)).home).filter(name => name.startsWith('clone-'))).toEqual([])

    await bench.run(id, 'stop', { force: true })
    await bench.run(copy.id, 'start')
    await bench.waitForView(copy.id, { guest: { agentVersion: expect.any(String) } })
    const other = await bench.driver.openAgent!(copy.id)
    expect(await run(other, 'mount /dev/vda /mnt && cat /mnt/file')).toMatchObject({ stdout: 'kept\n', exitCode: 0 })
  },
)

test.skipIf(withoutQemu)(
  'the clone of a running machine without an agent is as after a power cut, also when QEMU ends meanwhile',
  { timeout: 600_000 },
  async () => {
    await using bench = await openQemuBench()
    const { id, home } = await bench.create('counter')
    await bench.run(id, 'start')
    await bench.nextTick(id)
    const options = { linked: false, deadline: AbortSignal.timeout(60_000), onProgress: () => {} }
    const reached: string[] = []
    const copy = await bench.driver.clone(id, 'copy', {
      ...options,
      onConsistency: consistency => void reached.push(consistency),
    })
    expect(reached).toEqual(['crash'])
    await bench.nextTick(id)
    await bench.run(copy.id, 'start')
    await bench.nextTick(copy.id)
    await expect(bench.driver.clone(id, 'linked', { ...options, linked: true })).rejects.toMatchObject({
      fault: 'conflict',
    })

    const cancelled = new AbortController()
    cancelled.abort(new Error('cancelled'))
    await expect(bench.driver.clone(id, 'never', { ...options, deadline: cancelled.signal })).rejects.toThrow(
      'cancelled',
    )
    expect(readdirSync(home).filter(name => name.startsWith('clone-'))).toEqual([])

    // What a killed service leaves is removed at the next start.
    writeFileSync(join(home, 'clone-0123abcd-0.qcow2'), '')
    await bench.close()
    await bench.open()
    await until(async () => expect(readdirSync(home).filter(name => name.startsWith('clone-'))).toEqual([]))
  },
)

import { spawn } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { resolve } from 'node:path'
import { PassThrough } from 'node:stream'
import { stripVTControlCharacters } from 'node:util'
import { describe, expect, test, vi } from 'vitest'
import { byteSize } from '#lib/byte-size.ts'
import { createProgress } from '#lib/entry/progress.ts'
import type { JobStep } from '#lib/jobs/schemas.ts'
import { newState, rootPassword, runProgram, startService } from '../support/service.ts'

const env = { VMHOST_ROOT_PASSWORD: rootPassword }
const local = '--connection provider=local-storage'

/** A catalog that takes requests and never answers: what is pulled from it stays under way. */
const silentCatalog = async () => {
  const server = createServer(() => {})
  const { promise: listening, resolve: settle } = Promise.withResolvers<void>()
  server.listen(0, '127.0.0.1', settle)
  await listening
  const { port } = server.address() as AddressInfo
  return {
    connection: `host=http://user:very-secret@127.0.0.1:${port}`,
    place: `host=http://127.0.0.1:${port}`,
    [Symbol.dispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}

interface Following extends Disposable {
  said(words: string): Promise<void>
  interrupt(): void
  text(): string
  readonly ended: Promise<number | null>
}

/** Runs a command that stays, to send it signals. */
const follow = (state: string, args: string, connection: string): Following => {
  const child = spawn(process.execPath, [resolve('dist/vmhost.mjs'), ...args.split(' ')], {
    env: { PATH: process.env['PATH'], HOME: state, VMHOST_STATE: state, VMHOST_CONNECTION: connection },
    cwd: tmpdir(),
  })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part: Buffer) => void (text += part.toString()))
  return {
    ended: new Promise(settle => child.once('close', settle)),
    text: () => text,
    said: words => vi.waitFor(() => expect(text).toContain(words), { timeout: 10_000, interval: 10 }),
    interrupt: () => void child.kill('SIGINT'),
    [Symbol.dispose]: () => void child.kill('SIGKILL'),
  }
}

describe('the catalog on the command line', () => {
  test('a machine goes in as chunks, and what nobody uses of them is counted and removed', async () => {
    using state = newState()
    const vmhost = (args: string) => runProgram(args.split(' '), {}, state.path)
    const service = await startService({ state: state.path, env })
    expect(await vmhost(`catalog push demo --version 1 --machine demo ${local} --chunked`)).toMatchObject({ code: 0 })
    expect(await vmhost('catalog pull demo --name copy')).toMatchObject({ code: 0 })
    expect((await vmhost(`catalog clean ${local} --grace-hours 0`)).stdout).toMatch(
      /^0 chunks of 0 B can be removed, with --remove; \d+ chunks? stay\.\n$/,
    )
    expect(await vmhost('catalog delete demo')).toMatchObject({ code: 0 })
    expect((await vmhost(`catalog clean ${local} --grace-hours 0 --remove`)).stdout).toMatch(
      /^Removed [1-9]\d* chunks? of .+; 0 chunks stay\.\n$/,
    )
    expect((await vmhost('catalog clean')).stderr).toContain('--connection')
    expect((await vmhost(`catalog clean ${local} --grace-hours soon`)).code).not.toBe(0)
    expect(await service.stop()).toBe(0)
    expect((await vmhost(`catalog clean ${local}`)).stderr).toContain('none runs')
  })

  test('machines go into it and out of it, and it is looked at and changed with a service and without one', async () => {
    using state = newState()
    const vmhost = (args: string, stdin = '', more = {}) => runProgram(args.split(' '), more, state.path, stdin)
    const list = async (): Promise<string> => (await vmhost('catalog list')).stdout

    expect((await vmhost('catalog list')).stderr).toContain('There is nothing of vmhost')
    let service = await startService({ state: state.path, env })
    expect(await list()).toBe('The catalog is empty.\n')
    const pushed = await vmhost(`catalog push Demo --version 1.0 --machine demo ${local} --level 9 --tag ci --tag base`)
    expect(pushed).toMatchObject({ code: 0 })
    expect(pushed.stdout).toMatch(/^Pushed demo 1\.0 x86_64: 1\.0 MB, as a pack of \d\.\d kB\.\n$/)
    // One line for each step, and nothing that draws.
    expect(pushed.stderr).toMatch(
      /^This push is the job \S+\.\nCheck the request: done\n(.+: done.*\n)*Upload the pack: done, .+\n(.+: done\n)*Clean up: done\n$/,
    )
    expect(pushed.stderr).not.toContain('\x1b')
    expect(
      await vmhost(`catalog push demo --version 1.0 --machine demo ${local} --no-override-existing`),
    ).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('\nvmhost: The catalog has demo-x86_64-1.0 already'),
    })
    const secret = 'provider=local-storage;access_key=very-secret'
    expect((await vmhost('catalog push demo --version 1.1 --machine demo --connection -', `${secret}\n`)).code).toBe(0)
    expect(
      (await vmhost('catalog push demo --version 1.2 --machine demo', '', { VMHOST_CONNECTION: secret })).code,
    ).toBe(0)
    expect(JSON.parse((await vmhost('catalog show demo latest --json')).stdout)).toMatchObject([{ version: '1.2' }])
    expect(await list()).toMatch(
      /^NAME +VERSION +ARCHITECTURE +TYPE +SIZE +PACK +TAGS +UPDATED\ndemo +1\.2 .*\n.*\ndemo +1\.0 +x86_64 +embedded +1\.0 MB +\S+ kB +ci base +20..-..-.. ..:..Z\n$/,
    )
    const pulled = await vmhost('catalog pull demo --version 1.0 --name copy --start')
    expect(pulled).toMatchObject({ code: 0 })
    expect(pulled.stdout).toMatch(/^Pulled demo 1\.0 x86_64 as the machine copy \(.{36}\), which runs\.\n$/)
    expect(await vmhost('catalog pull demo --name copy')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /\nCheck the request: failed\nvmhost: A machine called copy exists already; choose another name\.\n$/,
      ),
    })
    expect((await vmhost('catalog taint demo 1.0 x86_64')).stdout).toBe('demo 1.0 x86_64 is tainted.\n')
    expect(await list()).toMatch(/demo +1\.0 .*tainted\n/)
    expect((await vmhost('catalog pull demo --version 1.0 --name other')).stderr).toContain('tainted')
    await service.stop()

    for (const args of [
      `push demo --version 2 --machine demo ${local}`,
      'pull demo --name other',
      `import demo --version 2 --architecture x86_64 ${local}`,
    ])
      expect(await vmhost(`catalog ${args}`)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('vmhost serve'),
      })
    expect((await vmhost('catalog untaint demo 1.0 x86_64')).stdout).toBe('demo 1.0 x86_64 is not tainted any more.\n')
    expect((await vmhost('catalog revoke demo 1.1 x86_64')).stdout).toBe('demo 1.1 x86_64 is revoked.\n')
    const shown = (await vmhost('catalog show demo')).stdout
    expect(shown).toMatch(/demo 1\.1 x86_64\n +flags +revoked\n/)
    expect(shown).toMatch(/pulled +1 times, last at .* by root/)
    expect(shown).not.toContain('very-secret')
    expect((await vmhost('catalog delete demo 1.0 --no-clean-remote')).stdout).toContain('deleted')
    expect((await vmhost('catalog show demo 1.0')).stderr).toBe(
      'vmhost: There is no manifest demo 1.0 in the catalog.\n',
    )

    service = await startService({ state: state.path, env })
    expect((await vmhost(`catalog import demo --version 1.0 --architecture x86_64 ${local}`)).stdout).toMatch(
      /^Imported demo 1\.0 x86_64: a pack of \d\.\d kB\.\n$/,
    )
    expect((await vmhost('catalog delete demo')).code).toBe(0)
    expect(await list()).toBe('The catalog is empty.\n')
    await service.stop()
  }, 120_000)

  test('one that is under way is left by Ctrl-C, joined by the same command, and cancelled by Ctrl-C twice', async () => {
    using state = newState()
    using silent = await silentCatalog()
    let service = await startService({ state: state.path, env })
    const command = 'catalog pull Big --version 1 --name copy'
    const job = async () => {
      const { body } = await service.call('GET', '/api/v1/jobs', { token: await service.signIn() })
      expect(body).toHaveLength(1)
      return body[0]
    }

    using first = follow(state.path, command, silent.connection)
    await first.said('This pull is the job ')
    const { id, about } = await job()
    // Of its connection where it leads, and not what opens it.
    expect(about).toEqual({ catalog_id: 'big', version: '1', machine_name: 'copy', connection: silent.place })
    first.interrupt()
    await first.said(`The pull goes on in the service, as the job ${id}.`)
    expect(await first.ended).toBe(130)
    expect(await job()).toMatchObject({ id, state: 'running' })

    using second = follow(state.path, command, silent.connection)
    await second.said(`This pull is under way already, as the job ${id}.`)
    await service.kill()
    expect(await second.ended).toBe(1)
    expect(second.text()).toContain(`goes on at its next start, as the job ${id}; the same command then follows it`)

    service = await startService({ state: state.path, env })
    using third = follow(state.path, command, silent.connection)
    await third.said('is under way already')
    third.interrupt()
    await third.said('Ctrl-C once more now cancels it')
    third.interrupt()
    expect(await third.ended).toBe(1)
    expect(third.text()).toMatch(
      /Cancelling the pull …\nCheck the request: failed\nvmhost: The job was cancelled by root\.\n$/,
    )
    expect(await job()).toMatchObject({ id, state: 'failed' })
    // Another version is another pull, and so is the same from another catalog.
    using other = follow(state.path, 'catalog pull big --version 2 --name copy', silent.connection)
    await other.said('This pull is the job ')
    using elsewhere = await silentCatalog()
    using same = follow(state.path, 'catalog pull big --version 2 --name copy', elsewhere.connection)
    await same.said('This pull is the job ')
    for (const { text } of [first, second, third, other]) expect(text()).not.toContain('very-secret')
    await service.stop()
  })

  test('words that lead elsewhere than to a manifest are refused as an id', async () => {
    using state = newState()
    const service = await startService({ state: state.path, env })
    const vmhost = (args: string) => runProgram(args.split(' '), {}, state.path)
    await vmhost(`catalog push demo --version 1 --machine demo ${local}`)
    await vmhost('catalog pull demo --name copy')
    for (const args of [
      'show cache',
      'show Cache demo',
      'delete cache',
      'delete cache demo',
      'delete push',
      'show import',
    ])
      expect(await vmhost(`catalog ${args}`)).toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringMatching(/^vmhost: "\w+" is not an id of the catalog\.\n$/),
      })
    const { body } = await service.call('GET', '/api/v1/catalog/cache', { token: await service.signIn() })
    expect(body).toHaveLength(1)
    await service.stop()
  })

  test('what is missing is said before anything is asked for', async () => {
    using state = newState()
    await (await startService({ state: state.path, env })).stop()
    const vmhost = async (args: string): Promise<string> => (await runProgram(args.split(' '), {}, state.path)).stderr
    expect(await vmhost('catalog push demo --machine demo')).toContain('--version')
    expect(await vmhost('catalog pull demo')).toContain('--name')
    expect(await runProgram(['--version'], {}, state.path)).toMatchObject({ stdout: '0.1.0\n' })
    const { stdout } = await runProgram(['catalog', 'push', '--help'], {}, state.path)
    expect(stdout).toContain('VMHOST_CONNECTION')
  })
})

/** What a terminal shows after all that was written to it, without its colors. */
const screenOf = (written: string): string => {
  const rows = ['']
  let row = 0
  for (const [, up, clears, returns, feeds, color, plain = ''] of written.matchAll(
    // oxlint-disable-next-line no-control-regex -- terminals are told what to do by control characters
    /\x1b\[(\d+)A|(\x1b\[J)|(\r)|(\n)|(\x1b\[\d+m)|([^\x1b\r\n]+)/g,
  )) {
    if (up !== undefined) row -= Number(up)
    else if (clears !== undefined) rows.splice(row, Infinity, '')
    else if (feeds !== undefined) rows[(row += 1)] ??= ''
    else if (returns === undefined && color === undefined) rows[row] += plain
  }
  return rows.join('\n').trimEnd()
}

const step = (name: string, more: Partial<JobStep> = {}): JobStep => ({
  name,
  display_name: name,
  weight: 1,
  has_percentage: more.unit !== undefined,
  state: 'pending',
  current_percentage: 0,
  ...more,
})

describe('progress', () => {
  const open = (columns: number, isTTY = true) => {
    const output = Object.assign(new PassThrough(), { isTTY, columns })
    let written = ''
    output.on('data', (part: Buffer) => void (written += part.toString()))
    return { progress: createProgress(output as unknown as NodeJS.WriteStream), written: () => written }
  }
  const fetching = step('Fetch the pack', {
    unit: 'bytes',
    state: 'running',
    value: 1.2e9,
    total: 2e9,
    current_percentage: 60,
    rate: 210e6,
    eta: '4s',
  })
  const checked = step('Check', { state: 'completed' })
  const unpacking = step('Unpack', { unit: 'bytes', state: 'running' })

  test('on a terminal what is under way is drawn in its place, below what has ended', () => {
    const { progress, written } = open(100)
    progress.show([step('Check', { state: 'running' }), step('Fetch the pack', { unit: 'bytes' })])
    expect(screenOf(written())).toBe('▸ Check')
    progress.show([checked, fetching, unpacking])
    progress.say('said')
    progress.show([checked, fetching, unpacking])
    expect(screenOf(written()).split('\n')).toEqual([
      '✔ Check',
      'said',
      `▸ Fetch the pack ${'━'.repeat(19)}${'─'.repeat(12)}  60%  1.2 GB of 2.0 GB  210.0 MB/s  4s left`,
      `▸ Unpack         ${'─'.repeat(31)}   0%`,
    ])
    const ended = { ...fetching, state: 'completed', eta: undefined } as unknown as JobStep
    progress.show([checked, ended, { ...unpacking, state: 'failed' }])
    expect(screenOf(written())).toBe('✔ Check\nsaid\n✔ Fetch the pack 2.0 GB at 210.0 MB/s\n✘ Unpack')
  })

  test.for([20, 40, 60, 79, 80, 200])('no line is wider than a terminal of %i columns', columns => {
    const { progress, written } = open(columns)
    progress.show([checked, fetching, unpacking, step('a'.repeat(90), { state: 'running' })])
    for (const line of stripVTControlCharacters(written()).split('\n')) expect(line.length).toBeLessThan(columns)
    expect(written()).toContain('60%'.slice(0, columns < 24 ? 0 : 3))
  })

  test('on a pipe each step is a line when it has ended', () => {
    const { progress, written } = open(100, false)
    progress.show([checked, fetching, unpacking])
    progress.show([checked, { ...fetching, state: 'completed' }, { ...unpacking, state: 'failed' }])
    expect(written()).toBe('Check: done\nFetch the pack: done, 2.0 GB at 210.0 MB/s\nUnpack: failed\n')
  })

  test.for([
    [0, '0 B'],
    [999, '999 B'],
    [1000, '1.0 kB'],
    [999_949, '999.9 kB'],
    [999_950, '1.0 MB'],
    [1.25e9, '1.3 GB'],
    [5e18, '5000.0 PB'],
  ] as const)('%i bytes are %s', ([bytes, text]) => expect(byteSize(bytes)).toBe(text))
})

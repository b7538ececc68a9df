import { spawn } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { declareTests } from '../support/rounds.ts'
import { newState, rootPassword, runProgram, startService } from '../support/service.ts'
import { until } from '../support/waiting.ts'

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
    said: words => until(() => expect(text).toContain(words)),
    interrupt: () => void child.kill('SIGINT'),
    [Symbol.dispose]: () => void child.kill('SIGKILL'),
  }
}

describe('the catalog on the command line', () => {
  // The requests of this command are tested without it, and the executable runs it in every run.
  declareTests(false, () => {
    test('pushes a machine as chunks, counts the unused chunks and removes them', async () => {
      using state = newState()
      const vmhost = (args: string) => runProgram(args.split(' '), {}, state.path)
      const service = await startService({ state: state.path, env })
      const sent = /\d+ chunks?, of which \d+ \(.+\) (was|were) new/
      const pushed = await vmhost(`catalog push demo --version 1 --machine demo ${local} --chunked`)
      expect(pushed).toMatchObject({ code: 0 })
      expect(pushed.stdout).toMatch(new RegExp(`^Pushed demo 1 x86_64: 1\\.0 MB in ${sent.source}\\.\\n$`))
      expect(pushed.stderr).toMatch(new RegExp(`\\nPack and upload the chunks: done, .+/s, ${sent.source}\\n`))
      expect(await vmhost('catalog pull demo --name copy')).toMatchObject({ code: 0 })
      expect((await vmhost('catalog pull demo --name other')).stderr).toContain(
        '\nFetch the pack: not needed, the cache has the machine\n',
      )
      expect((await vmhost('catalog show demo')).stdout).toMatch(/ pack +\S+ [kM]B, in chunks\n +signed +no\n/)
      expect((await vmhost(`catalog clean ${local} --grace-hours 0`)).stdout).toMatch(
        /^0 chunks of 0 B can be removed, with --remove; \d+ chunks? stays?\.\n$/,
      )
      expect((await vmhost('catalog delete demo')).stdout).toBe('demo was deleted from the catalog: 1 manifest.\n')
      expect((await vmhost(`catalog clean ${local} --grace-hours 1.5`)).stdout).toMatch(
        /^0 chunks of 0 B can be removed, with --remove; (\d+) chunks? stays?, \1 of them only for being younger than 1\.5 hours\.\n$/,
      )
      expect((await vmhost(`catalog clean ${local} --grace-hours 0 --remove`)).stdout).toMatch(
        /^Removed [1-9]\d* chunks? of .+; 0 chunks stay\.\n$/,
      )
      expect((await vmhost('catalog clean')).stderr).toContain('--connection')
      for (const [hours, why] of [
        ['soon', 'must be a number'],
        ['-1', 'must be at least 0'],
      ])
        expect(await vmhost(`catalog clean ${local} --grace-hours ${hours}`)).toMatchObject({
          code: 2,
          stderr: `vmhost: --grace-hours ${why}.\n`,
        })
      expect(await service.stop()).toBe(0)
      expect((await vmhost(`catalog clean ${local}`)).stderr).toContain('none runs')
    })
  })

  // The requests of these commands are tested without them, and the commands are run by the tests of the executable.
  declareTests(false, () => {
    test('pushes a running machine that may be suspended, and resumes it', async () => {
      using state = newState()
      const vmhost = (args: string) => runProgram(args.split(' '), {}, state.path)
      const service = await startService({ state: state.path, env })
      const token = await service.signIn()
      const machine = (path: string, method = 'GET') => service.call(method, `/api/v1/machines/demo${path}`, { token })
      expect((await machine('/start', 'PUT')).status).toBe(200)
      const refused = await vmhost(`catalog push demo --version 1 --machine demo ${local}`)
      expect(refused.code).not.toBe(0)
      expect(refused.stderr).toContain('ask for `suspend`')
      expect(await vmhost(`catalog push demo --version 1 --machine demo ${local} --suspend`)).toMatchObject({ code: 0 })
      expect((await machine('/status')).body.status).toBe('running')
      expect(await service.stop()).toBe(0)
    })
  })

  test('pushes and pulls machines, and shows and changes the catalog with and without a service', async () => {
    using state = newState()
    const vmhost = (args: string, stdin = '', more = {}) => runProgram(args.split(' '), more, state.path, stdin)
    const list = async (): Promise<string> => (await vmhost('catalog list')).stdout

    expect((await vmhost('catalog list')).stderr).toContain('There is no vmhost state')
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
      code: 3,
      stdout: '',
      stderr: expect.stringContaining('\nCheck the request: failed\nvmhost: The catalog has demo-x86_64-1.0 already'),
    })
    const secret = 'provider=local-storage;access_key=very-secret'
    expect((await vmhost('catalog push demo --version 1.1 --machine demo --connection -', `${secret}\n`)).code).toBe(0)
    expect(
      (await vmhost('catalog push demo --version 1.2 --machine demo', '', { VMHOST_CONNECTION: secret })).code,
    ).toBe(0)
    expect(JSON.parse((await vmhost('catalog show demo latest --json')).stdout)).toMatchObject([{ version: '1.2' }])
    expect(await list()).toMatch(
      /^NAME +VERSION +ARCHITECTURE +TYPE +SIZE +PACK +TAGS +UPDATED +FLAGS\ndemo +1\.2 .*\n.*\ndemo +1\.0 +x86_64 +embedded +1\.0 MB +\S+ kB +ci base +20..-..-.. ..:..Z\n$/,
    )
    const pulled = await vmhost('catalog pull demo --version 1.0 --name copy --start')
    expect(pulled).toMatchObject({ code: 0 })
    expect(pulled.stdout).toMatch(/^Pulled demo 1\.0 x86_64 as the machine copy \(.{36}\), which runs\.\n$/)
    expect(await vmhost('catalog pull demo --name copy')).toMatchObject({
      code: 3,
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
        code: 5,
        stderr: expect.stringContaining('vmhost serve'),
      })
    expect((await vmhost('catalog untaint demo 1.0 x86_64')).stdout).toBe('demo 1.0 x86_64 is not tainted any more.\n')
    expect((await vmhost('catalog revoke demo 1.1 x86_64')).stdout).toBe('demo 1.1 x86_64 is revoked.\n')
    const shown = (await vmhost('catalog show demo')).stdout
    expect(shown).toMatch(/demo 1\.1 x86_64\n +flags +revoked\n/)
    expect(shown).toMatch(/pulled +once, last at .* by root/)
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
  })

  test('leaves a running transfer at Ctrl-C, joins it with the same command, and cancels it at the second Ctrl-C', async () => {
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
    await first.said(`The pull continues in the service as the job ${id}.`)
    await first.said(`vmhost jobs cancel ${id}`)
    expect(await first.ended).toBe(130)
    expect(await job()).toMatchObject({ id, state: 'running' })

    using second = follow(state.path, command, silent.connection)
    await second.said(`This pull already runs as the job ${id}.`)
    await service.kill()
    expect(await second.ended).toBe(5)
    expect(second.text()).toContain(
      `The next start continues the pull as the job ${id}; then the same command follows it`,
    )

    service = await startService({ state: state.path, env })
    let third: Following
    do {
      // Where this machine was too slow to send both in time, it has left, and is started again.
      third = follow(state.path, command, silent.connection)
      await third.said('already runs')
      third.interrupt()
      await third.said('Ctrl-C once more within 2 seconds')
      third.interrupt()
    } while ((await third.ended) === 130)
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

  test('refuses catalog ids that are paths of other endpoints', async () => {
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
        code: 2,
        stdout: '',
        stderr: expect.stringMatching(/^vmhost: "\w+" is not an id of the catalog\.\n$/),
      })
    const { body } = await service.call('GET', '/api/v1/catalog/cache', { token: await service.signIn() })
    expect(body).toHaveLength(1)
    await service.stop()
  })

  test('names the options of the command line in refusals of a request', async () => {
    using state = newState()
    const service = await startService({ state: state.path, env })
    const vmhost = async (args: string) => (await runProgram(args.split(' '), {}, state.path)).stderr
    const push = 'catalog push demo --machine demo'
    for (const [args, said] of [
      [`${push} --version 1/2 ${local}`, '--version must be at most 100 bytes'],
      [`${push} --version 1 ${local} --architecture riscv`, '--architecture must be x86_64 or arm64.'],
      [`${push} --version 1 ${local} --format lz4 --tag a,b`, '--tag must be a name without commas; --format must be'],
      [`${push} --version 1 ${local} --local-path /tmp`, 'either --machine or --local-path, not with both'],
      [`catalog push cache --machine demo --version 1 ${local}`, '<catalog-id> is not an id of the catalog.'],
      [`catalog import demo --version 1 ${local} --architecture vax`, '--architecture must be x86_64 or arm64.'],
    ] as const)
      expect(await vmhost(args)).toContain(said)
    const { body } = await service.call('GET', '/api/v1/jobs', { token: await service.signIn() })
    expect(body).toEqual([])
    await service.stop()
  })

  test('prints records and jobs as JSON for programs', async () => {
    using state = newState()
    using silent = await silentCatalog()
    const key = join(state.path, 'pack.pem')
    const { privateKey, publicKey } = generateKeyPairSync('ed25519')
    writeFileSync(key, privateKey.export({ type: 'pkcs8', format: 'pem' }))
    const service = await startService({ state: state.path, env: { ...env, VMHOST_PACK_SIGNING_KEY: key } })
    const vmhost = async (args: string) => runProgram(args.split(' '), {}, state.path)
    const pushed = await vmhost(`catalog push demo --version 1 --machine demo ${local} --json`)
    expect(JSON.parse(pushed.stdout)).toMatchObject({ catalog_id: 'demo', version: '1', type: 'embedded' })
    expect(pushed.stderr).toContain('Clean up: done')
    const pulled = await vmhost('catalog pull demo --name copy --json')
    expect(JSON.parse(pulled.stdout)).toMatchObject({ machine_name: 'copy', manifest: { catalog_id: 'demo' } })
    const raw = Buffer.from(publicKey.export({ format: 'jwk' }).x!, 'base64url').toString('base64')
    expect((await vmhost('catalog show demo 1')).stdout).toContain(`by ${raw}\n`)

    using waiting = follow(state.path, 'catalog pull big --name other', silent.connection)
    await waiting.said('This pull is the job ')
    const list = (await vmhost('jobs list')).stdout
    expect(list).toMatch(
      /^JOB +WHAT +STATE +DONE +STARTED +BY +OF +ERROR\n\S{36} +catalog pull +running +0% .* root +big latest other host=.*\n(.*completed +100%.*\n){2}$/,
    )
    expect(list).not.toContain('very-secret')
    const [job] = JSON.parse((await vmhost('jobs list --json')).stdout)
    expect((await vmhost(`jobs show ${job.id}`)).stdout).toMatch(
      / state +running, 0%\n[^]* {2}Check the request +under way\n/,
    )
    expect((await vmhost(`jobs cancel ${job.id}`)).stdout).toContain('Cancelling the pull')
    expect(await waiting.ended).toBe(1)
    expect(JSON.parse((await vmhost(`jobs show ${job.id} --json`)).stdout)).toMatchObject({ state: 'failed' })
    expect((await vmhost('jobs list')).stdout).toMatch(/ failed .* host=\S+ +The job was cancelled by root\.\n/)
    expect(await vmhost(`jobs cancel ${job.id}`)).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('has ended'),
    })
    expect((await runProgram(['jobs', 'show', ''], {}, state.path)).stderr).toContain('vmhost jobs list')
    await service.stop()
    expect((await vmhost('jobs list')).stderr).toContain('vmhost serve')
  })

  test('reports missing options before it sends a request', async () => {
    using state = newState()
    await (await startService({ state: state.path, env })).stop()
    const vmhost = async (args: string): Promise<string> => (await runProgram(args.split(' '), {}, state.path)).stderr
    expect(await vmhost('catalog push demo --machine demo')).toContain('--version')
    expect(await vmhost('catalog pull demo')).toContain('--name')
    expect(await runProgram(['--version'], {}, state.path)).toMatchObject({ stdout: '0.1.0\n' })
    const { stdout } = await runProgram(['catalog', 'push', '--help'], {}, state.path)
    expect(stdout).toContain('VMHOST_CONNECTION')
    for (const word of ['--config', '--state', 'vmhost serve --help']) expect(stdout).toContain(word)
    expect(stdout).not.toMatch(/--(password|lockout|token|audit)-/)
    // They are taken all the same: without a service these rules are the ones of this call.
    expect(await vmhost('users list --password-min-length 20')).toBe('')
    expect(await vmhost('users list --password-min-length none')).toContain('--password-min-length is wrong')
  })
})

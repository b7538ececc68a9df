import { randomUUID } from 'node:crypto'
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { newFolder } from '../support/folder.ts'
import { newState, rootPassword, runProgram, type Service, startService } from '../support/service.ts'

const plain = { VMHOST_ROOT_PASSWORD: rootPassword, VMHOST_LISTEN: 'http://127.0.0.1:0' }

interface Finding {
  readonly check: string
  readonly status: string
  readonly message: string
  readonly remedy?: string
}

/** Runs `vmhost doctor --json`, and gives its findings by check. */
const diagnose = async (state: string, env: Readonly<Record<string, string>> = {}) => {
  const { code, stdout, stderr } = await runProgram(['doctor', '--json'], env, state)
  expect(stderr).toBe('')
  const { ok, checks } = JSON.parse(stdout) as { ok: boolean; checks: readonly Finding[] }
  expect(code).toBe(ok ? 0 : 1)
  return { ok, checks: Object.fromEntries(checks.map(finding => [finding.check, finding])) }
}

const createKey = async (service: Service): Promise<string> => {
  const token = await service.signIn()
  const made = await service.call('POST', '/api/v1/auth/api_keys', { token, body: { name: 'scraper', claims: [] } })
  expect(made.status).toBe(201)
  return made.body.encoded
}

const listNames = (text: string): readonly string[] => [...new Set(text.match(/\bvmhost_[a-z_]+/g))]

test('Prometheus scrapes with an API key as bearer, and finds every metric of the dashboard and the alerts', async () => {
  using state = newState()
  const service = await startService({ state: state.path, env: plain })
  const key = await createKey(service)
  const scrape = (authorization: string) => fetch(`${service.url}/metrics`, { headers: { authorization } })
  expect((await scrape(`Bearer ${Buffer.from('no:key').toString('base64')}`)).status).toBe(401)
  // The first scrape is a reply that the second one counts.
  await (await scrape(`Bearer ${key}`)).text()
  const reply = await scrape(`Bearer ${key}`)
  expect(reply.status).toBe(200)
  const metrics = await reply.text()
  const served = new Set(
    [...metrics.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name = '', type]) =>
      type === 'histogram' ? ['bucket', 'sum', 'count'].map(part => `${name}_${part}`) : [name],
    ),
  )
  for (const file of ['docs/dashboards/grafana.json', 'docs/dashboards/alerts.yaml']) {
    const used = listNames(readFileSync(file, 'utf8'))
    expect(used.length).toBeGreaterThan(5)
    expect(used.filter(name => !served.has(name))).toEqual([])
  }
  expect(JSON.parse(readFileSync('docs/dashboards/grafana.json', 'utf8'))).toMatchObject({ title: 'vmhost' })
})

test('doctor finds nothing wrong with a service that runs, and asks it for its health', async () => {
  using state = newState()
  await startService({ state: state.path, env: plain })
  const { ok, checks } = await diagnose(state.path)
  expect(Object.values(checks).filter(({ status }) => status === 'problem')).toEqual([])
  expect(ok).toBe(true)
  expect(checks['service']!.message).toContain('all its parts are healthy')
  const shown = await runProgram(['doctor'], {}, state.path)
  expect(shown).toMatchObject({ code: 0, stdout: expect.stringMatching(/^ok +state_folder +\S+ belongs to/m) })
})

test('the status of the service is told as JSON, and ends with 1 where none runs', async () => {
  using state = newState()
  const status = async () => {
    const { code, stdout } = await runProgram(['service', 'status', '--json'], {}, state.path)
    return { code, ...JSON.parse(stdout) }
  }
  expect(await status()).toMatchObject({ code: 1, service: 'stopped', healthy: false, state: state.path })
  const service = await startService({ state: state.path, env: plain })
  expect(await status()).toMatchObject({ code: 0, service: 'running', healthy: true })
  await service.stop()
})

test('doctor names what is wrong and the command that mends it, and ends with 1', async () => {
  using state = newState()
  const service = await startService({ state: state.path, env: { ...plain, VMHOST_LISTEN: 'https://127.0.0.1:0' } })
  await service.stop()
  chmodSync(join(state.path, 'keys'), 0o755)
  chmodSync(join(state.path, 'tls', 'key.pem'), 0o644)
  const definition = { networks: [{ mode: 'nat' }, { mode: 'network:lan' }], firmware: 'uefi' }
  mkdirSync(join(state.path, 'machines/qemu/one'), { recursive: true })
  writeFileSync(join(state.path, 'machines/qemu/one/machine.json'), JSON.stringify(definition))
  using empty = newFolder()
  const blocker = createServer()
  await new Promise<void>(resolve => blocker.listen(0, '127.0.0.1', resolve))
  const { port } = blocker.address() as { port: number }
  const env = { VMHOST_LISTEN: `https://127.0.0.1:${port}`, VMHOST_DRIVER: 'qemu', PATH: empty.path }
  const { checks } = await diagnose(state.path, env).finally(() => blocker.close())
  expect(checks).toMatchObject({
    state_folder: { status: 'problem', remedy: expect.stringContaining(`chmod go= ${state.path}/keys`) },
    certificate: { status: 'problem', remedy: `chmod 600 ${state.path}/tls/key.pem` },
    listen_address: { status: 'problem', remedy: expect.stringContaining(`sport = :${port}`) },
    hypervisor: { status: 'problem', remedy: expect.stringMatching(/install .*qemu/) },
    nat: { status: 'problem', remedy: expect.stringMatching(/install .*passt/) },
    service: { status: 'ok' },
  })
  execFileSync('/bin/sh', ['-c', checks['certificate']!.remedy!])
  execFileSync('/bin/sh', ['-c', checks['state_folder']!.remedy!])
  expect((await diagnose(state.path)).checks).toMatchObject({
    state_folder: { status: 'ok' },
    certificate: { status: 'ok' },
  })
})

test('a report has versions, findings, settings, metrics and log, and none of the secrets', async () => {
  using state = newState()
  using folder = newFolder()
  const secrets = {
    root: rootPassword,
    storage: 'the storage password of nine words, all in small',
    control: `${randomUUID()}.${'0123456789abcdef'.repeat(4)}`,
    issuer: 'secret-of-an-issuer',
    url: 'password-in-a-url',
    token: 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJyb290In0.c2lnbmF0dXJl',
    key: '',
  }
  const settings = join(folder.path, 'vmhost.toml')
  writeFileSync(
    settings,
    [
      `storage_password = ${JSON.stringify(secrets.storage)}`,
      `root_password = ${JSON.stringify(secrets.root)}`,
      `control_key = ${JSON.stringify(secrets.control)}`,
      `control_url = "https://control.example.test"`,
      `listen = "http://127.0.0.1:0"`,
      `[[trusted_issuers]]`,
      `issuer = "https://control.example.test"`,
      `audience = "${secrets.issuer}"`,
      `jwks = "https://control.example.test/keys"`,
    ].join('\n'),
  )
  const env = { VMHOST_CONFIG: settings, VMHOST_LISTEN: '' }
  const service = await startService({ state: state.path, env })
  secrets.key = await createKey(service)
  const log = join(folder.path, 'log')
  writeFileSync(
    log,
    [
      service.log(),
      `The password of root is ${secrets.root}`,
      JSON.stringify({ message: `push to https://jane:${secrets.url}@catalog.example.test failed` }),
      JSON.stringify({ message: `asked with Bearer ${secrets.token} and X-Api-Key: ${secrets.key}` }),
      JSON.stringify({ properties: { storage: secrets.storage, control: `${secrets.control}!` } }),
      'the last line',
    ].join('\n'),
  )
  const file = join(folder.path, 'report.tar.gz')
  const run = () => runProgram(['report', file, '--log-file', log], env, state.path)
  expect(await run()).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining(`Wrote ${file} with`) })
  // It overwrites nothing.
  expect(await run()).toMatchObject({ code: 1, stderr: expect.stringContaining('exists already') })

  const text = gunzipSync(readFileSync(file)).toString('latin1')
  for (const [name, secret] of Object.entries(secrets)) expect(text.includes(secret), name).toBe(false)
  const read = (name: string): string =>
    execFileSync('tar', ['--extract', '--gzip', '--to-stdout', '--file', file, `vmhost-report/${name}`], {
      encoding: 'utf8',
    })
  expect(JSON.parse(read('versions.json'))).toMatchObject({ vmhost: expect.any(String), node: process.versions.node })
  expect(JSON.parse(read('doctor.json'))).toContainEqual(expect.objectContaining({ check: 'service', status: 'ok' }))
  expect(JSON.parse(read('settings.json'))).toMatchObject({ backup_hours: 24, storage_password: '[removed]' })
  expect(JSON.parse(read('state-folder.json'))).toMatchObject({ 'store.db': { files: 1 } })
  expect(read('metrics.txt')).toMatch(/^vmhost_machines\{kind="\w+"\} 1$/m)
  expect(read('log.txt')).toMatch(/catalog\.example\.test failed[^]*the last line/)
})

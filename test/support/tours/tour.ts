import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { buildIsoImage } from '../disks/iso-image.ts'
import { until } from '../waiting.ts'
import type { Sshd } from '../servers/sshd.ts'

/** Calls one endpoint by its route's id; what it was asked and answered becomes the example of it. */
export type Take = (
  id: string,
  call: string,
  body?: unknown,
  more?: { token?: string; headers?: Record<string, string> },
  // oxlint-disable-next-line typescript/no-explicit-any -- what came over the wire
) => Promise<any>

interface World {
  readonly url: string
  readonly state: string
  readonly sshd: Sshd
  readonly rootPassword: string
  /** Waits until a job has ended. */
  ended(id: string): Promise<void>
}

const at = (version: string): string => `/v1/catalog/web/${version}/x86_64`
const asJob = { headers: { prefer: 'respond-async' } }

const people = async (take: Take, { rootPassword }: World): Promise<void> => {
  const password = 'Another-Horse-7-Battery'
  await take('claims/create', 'POST /v1/auth/claims', { name: 'STAGING', description: 'May see what is in staging' })
  await take('claims/list', 'GET /v1/auth/claims')
  await take('claims/list-grouped', 'GET /v1/auth/claims/grouped')
  await take('claims/show', 'GET /v1/auth/claims/STAGING')
  await take('roles/create', 'POST /v1/auth/roles', { name: 'QA', description: 'Testers', claims: ['LIST_VM'] })
  await take('roles/add-claim', 'POST /v1/auth/roles/QA/claims', { name: 'UPDATE_VM_STATES' })
  await take('roles/list', 'GET /v1/auth/roles')
  await take('roles/show', 'GET /v1/auth/roles/QA')
  await take('roles/list-claims', 'GET /v1/auth/roles/QA/claims')
  await take('roles/remove-claim', 'DELETE /v1/auth/roles/QA/claims/UPDATE_VM_STATES')
  const jane = { username: 'jane', name: 'Jane', email: 'jane@example.org', password }
  await take('users/create', 'POST /v1/auth/users', jane)
  await take('users/give-role', 'POST /v1/auth/users/jane/roles', { name: 'QA' })
  await take('users/give-claim', 'POST /v1/auth/users/jane/claims', { name: 'STAGING' })
  await take('users/list', 'GET /v1/auth/users')
  await take('users/show', 'GET /v1/auth/users/jane')
  await take('users/list-roles', 'GET /v1/auth/users/jane/roles')
  await take('users/list-claims', 'GET /v1/auth/users/jane/claims')
  await take('users/update', 'PUT /v1/auth/users/jane', { name: 'Jane Doe' })
  await take('users/unlock', 'DELETE /v1/auth/users/jane/lock')
  const { token } = await take('auth/sign-in', 'POST /v1/auth/token', { email: 'jane', password })
  await take('auth/validate-token', 'POST /v1/auth/token/validate', { token })
  await take('auth/validate-own-token', 'GET /v1/auth/token/validate', undefined, { token })
  await take('auth/sign-out', 'DELETE /v1/auth/token', undefined, { token })
  const again = await take('auth/sign-in', 'POST /v1/auth/token', { email: 'jane', password })
  await take('auth/change-password', 'PUT /v1/auth/password', { password, new_password: rootPassword }, again)
  const fromConsole = { headers: { 'x-vmhost-console': '1' } }
  await take('auth/open-session', 'POST /v1/auth/session', { name: 'jane', password: rootPassword }, fromConsole)
  await take('auth/show-session', 'GET /v1/auth/session')
  const kim = { username: 'kim', name: 'Kim', email: 'kim@example.org', password, is_super_user: true }
  await take('', 'POST /v1/auth/users', kim)
  const byKim = await take('', 'POST /v1/auth/token', { email: 'kim', password })
  const { fragment } = await take('auth/create-link', 'POST /v1/auth/links', undefined, byKim)
  const used = { secret: fragment.replace('#/link/', ''), password: rootPassword }
  await take('auth/use-link', 'POST /v1/auth/links/use', used, fromConsole)
  await take('', 'DELETE /v1/auth/users/kim')
  await take('users/take-role', 'DELETE /v1/auth/users/jane/roles/QA')
  await take('users/take-claim', 'DELETE /v1/auth/users/jane/claims/STAGING')
  await take('auth/create-ticket', 'POST /v1/auth/tickets', { path: '/v1/machines/web/screen?view_only=true' })
  const key = await take('auth/create-api-key', 'POST /v1/auth/api_keys', { name: 'ci', claims: ['LIST_VM'] })
  await take('auth/list-api-keys', 'GET /v1/auth/api_keys')
  await take('auth/show-api-key', `GET /v1/auth/api_keys/${key.id}`)
  await take('auth/revoke-api-key', `PUT /v1/auth/api_keys/${key.id}/revoke`)
  await take('auth/delete-api-key', `DELETE /v1/auth/api_keys/${key.id}`)
  await take('auth/public-keys', 'GET /.well-known/jwks.json')
  await take('auth/rotate-key', 'POST /v1/auth/key/rotate')
  await take('users/delete', 'DELETE /v1/auth/users/jane')
  await take('roles/delete', 'DELETE /v1/auth/roles/QA')
  await take('claims/delete', 'DELETE /v1/auth/claims/STAGING')
}

const service = async (take: Take, { sshd }: World): Promise<void> => {
  for (const id of ['health/probe', 'openapi/show'])
    await take(id, `GET ${id === 'health/probe' ? '/health/probe' : '/openapi.json'}`)
  await take('health/system', 'GET /v1/health/system')
  await take('license/show', 'GET /v1/hypervisor_desktop/key')
  await take('metrics/show', 'GET /metrics')
  await take('audit/list', 'GET /v1/audit?limit=1')
  await take('user-configs/create', 'POST /v1/user/configs', { slug: 'theme', name: 'Theme', value: 'dark' })
  await take('user-configs/list', 'GET /v1/user/configs')
  await take('user-configs/show', 'GET /v1/user/configs/theme')
  await take('user-configs/update', 'PUT /v1/user/configs/theme', { value: 'light' })
  await take('user-configs/delete', 'DELETE /v1/user/configs/theme')
  const { port, username, key } = sshd
  const target = { host: '127.0.0.1', port, username, key, enable_insecure_key: true }
  await take('ssh/execute', 'POST /v1/ssh/execute', { ...target, command: 'echo hello' })
}

/** A multiboot kernel that hears nothing, so that a graceful stop waits. It is at the address that its header says. */
const deafKernel = (): Uint8Array => {
  const [at, size, flags, magic, forever] = [0x100000, 36, 0x10000, 0x1badb002, 0xfeeb]
  const words = new Uint32Array([magic, flags, -(magic + flags), at, at, at + size, at + size, at + 32, forever])
  return new Uint8Array(words.buffer)
}

const machines = async (take: Take, { ended, state }: World): Promise<void> => {
  const kernel = join(state, 'attach/kernel.bin')
  mkdirSync(join(state, 'attach'), { recursive: true })
  writeFileSync(kernel, deafKernel())
  const cloudInit = {
    hostname: 'web.example.org',
    ssh_keys: ['ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFDYWOCYXsx/YEGKrwzFq1h/QsJXCohAlanozKzQ9lRc anna@example.org'],
    user_data: '#cloud-config\npackages: [nginx]\n',
  }
  const hardware = { cpus: 1, memory: 32, disks: [{ size: 1 }], kernel }
  const machine = { name: 'web', description: 'Web server', ...hardware, ...cloudInit }
  await take('machines/create', 'POST /v1/machines', machine)
  const clone = { clone_name: 'web-2' }
  await take('machines/clone', 'PUT /v1/machines/web/clone', clone)
  await take('machines/set', 'PUT /v1/machines/web-2/set', {
    operations: [{ group: 'memory', operation: 'set', value: '64' }],
  })
  await take('machines/delete-cloud-init', 'DELETE /v1/machines/web-2/cloud-init')
  for (const verb of ['start', 'pause', 'resume', 'suspend', 'start', 'reset'])
    await take(`machines/${verb}`, `PUT /v1/machines/web/${verb}`)
  await take('machines/status', 'GET /v1/machines/web/status')
  await take('machines/show', 'GET /v1/machines/web')
  await take('machines/list', 'GET /v1/machines')
  await take('machines/list-forwards', 'GET /v1/machines/web/forwards')
  // The guest does not shut down, so there is time to look at the job and to cancel it.
  const job = await take('', 'PUT /v1/machines/web/stop', undefined, asJob)
  await take('jobs/show', `GET /v1/jobs/${job.id}`)
  await take('jobs/list', 'GET /v1/jobs')
  await take('jobs/cancel', `POST /v1/jobs/${job.id}/cancel`)
  await ended(job.id)
  await take('jobs/delete', `DELETE /v1/jobs/${job.id}`)
  await take('machines/stop', 'PUT /v1/machines/web/stop?force=true')
  await take('machines/restart', 'PUT /v1/machines/web/restart')
  await pools(take)
  await take('machines/delete', 'DELETE /v1/machines/web-2')
}

const pools = async (take: Take): Promise<void> => {
  const labels = { team: 'build' }
  const pool = { from: { machine: 'web-2' }, template: { labels }, min: 1, max: 4 }
  /** Waits until a pool has members of these states in this order. Then its machines do not change by themselves. */
  const settled = async (...states: string[]): Promise<void> => {
    await until(async () => {
      const { members } = await take('', 'GET /v1/pools/ci')
      expect(members.map(({ state }: { state: string }) => state)).toEqual(states)
    })
  }
  await take('pools/create', 'POST /v1/pools', { name: 'ci', ...pool })
  // A claim that waits makes two machines at once, and either of them can be ready first.
  await settled('ready')
  const claimed = await take('pools/claim', 'POST /v1/pools/ci/claim', { labels: { job: '7' }, ttl: 3600 })
  await settled('claimed', 'ready')
  await take('pools/update', 'PUT /v1/pools/ci', { ...pool, max: 8 })
  await take('pools/show', 'GET /v1/pools/ci')
  await take('pools/list', 'GET /v1/pools')
  await take('pools/delete', 'DELETE /v1/pools/ci')
  await take('', `DELETE /v1/machines/${claimed.id}?force=true`)
}

const images = async (take: Take): Promise<void> => {
  const iso = buildIsoImage(20, 'install')
  const headers = {
    'content-type': 'application/octet-stream',
    'content-range': `bytes 0-${iso.length - 1}/${iso.length}`,
  }
  await take('images/upload', 'PUT /v1/images/install-cd/upload', iso, { headers })
  await take('images/show-upload', 'GET /v1/images/install-cd/upload')
  const sha256 = createHash('sha256').update(iso).digest('hex')
  const image = { name: 'install-cd', upload: true, sha256, description: 'Installs the system' }
  await take('images/create', 'POST /v1/images', image)
  await take('images/list', 'GET /v1/images')
  await take('images/show', 'GET /v1/images/install-cd')
  await take('images/delete', 'DELETE /v1/images/install-cd')
}

const storage = 'provider=local-storage'
const pushed = { catalog_id: 'web', version: '1', uuid: 'web', connection: storage, description: 'Web server' }
const registered = { catalog_id: 'web', version: '4', architecture: 'x86_64', description: 'Without a pack' }
const pulled = { catalog_id: 'web', version: '1', machine_name: 'web-3' }

/** What both catalogs take: that of this service, and that of a manager. */
const manifests = async (take: Take, area: string, below: string, action: string): Promise<void> => {
  const edit = { required_claims: ['STAGING'], required_roles: ['QA'], tags: ['nightly'] }
  const place = below + at('2').slice('/v1/catalog'.length)
  const id = (name: string): string => `${area}/${action}${name}`
  for (const what of ['claims', 'roles', 'tags']) {
    await take(id(`add-${what}`), `PATCH ${place}/${what}`, edit)
    await take(id(`remove-${what}`), `DELETE ${place}/${what}`, edit)
  }
  await take(id('describe'), `PUT ${place}/metadata`, { description: 'Web server with logs', tags: ['nightly'] })
  await take(id('connect'), `PATCH ${place}/connection`, { connection: storage })
  await take(id('taint'), `PATCH ${place}/taint`)
  await take(id('untaint'), `PATCH ${place}/untaint`)
  await take(id('register'), `POST ${below}`, registered)
  await take(id('list'), `GET ${below}`)
  await take(id('show'), `GET ${below}/web/1/x86_64`)
  await take(id('download'), `GET ${place}/download`)
  await take(id('revoke'), `PATCH ${place}/revoke`)
}

const imports = async (take: Take, { state }: World, id: string, below: string, name: string): Promise<void> => {
  const bundle = join(state, 'catalog/bundles', `${name}.macvm`)
  mkdirSync(bundle, { recursive: true })
  writeFileSync(join(bundle, 'config.pvs'), 'config')
  const place = { architecture: 'arm64', connection: storage }
  const machine = { catalog_id: name, version: '1', ...place, machine_remote_path: `bundles/${name}.macvm`, size: 10 }
  await take(`${id}import-vm`, `PUT ${below}/import-vm`, machine)
  await take('', 'DELETE /v1/catalog/web/1/x86_64?clean_remote=false')
  await take(`${id}import`, `PUT ${below}/import`, {
    catalog_id: 'web',
    version: '1',
    architecture: 'x86_64',
    connection: storage,
  })
}

const catalogs = async (take: Take, world: World): Promise<void> => {
  const { ended, url, rootPassword } = world
  await take('catalog/push', 'POST /v1/catalog/push', pushed)
  const job = await take('catalog/push-async', 'POST /v1/catalog/push/async', { ...pushed, version: '2' })
  await ended(job.id)
  await take('catalog/pull', 'PUT /v1/catalog/pull', pulled)
  const second = await take('catalog/pull-async', 'PUT /v1/catalog/pull/async', { ...pulled, machine_name: 'web-4' })
  await ended(second.id)
  await take('catalog-cache/list', 'GET /v1/catalog/cache')
  await take('catalog-cache/delete', 'DELETE /v1/catalog/cache/web')
  await take('catalog-cache/clear', 'DELETE /v1/catalog/cache')
  await manifests(take, 'catalog', '/v1/catalog', '')
  await take('catalog/delete', `DELETE ${at('2')}`)
  await take('catalog/garbage', 'POST /v1/catalog/garbage', { connection: storage })
  await imports(take, world, 'catalog/', '/v1/catalog', 'mac')

  const manager = { name: 'Ours', url, username: 'root', password: rootPassword }
  const { id } = await take('catalog-managers/create', 'POST /v1/catalog-managers', manager)
  const managers = 'catalog-managers/catalog-'
  const below = `/v1/catalog-managers/${id}/catalog`
  await take('catalog-managers/list', 'GET /v1/catalog-managers')
  await take('catalog-managers/show', `GET /v1/catalog-managers/${id}`)
  await take('catalog-managers/update', `PUT /v1/catalog-managers/${id}`, { name: 'Our own' })
  await take('', 'POST /v1/catalog/push', { ...pushed, version: '2' })
  await take(`${managers}pull`, `PUT ${below}/pull`, { ...pulled, machine_name: 'web-5' })
  const fourth = await take(`${managers}pull-async`, `PUT ${below}/pull/async`, { ...pulled, machine_name: 'web-6' })
  await ended(fourth.id)
  await take('', `DELETE ${at('4')}`)
  await manifests(take, 'catalog-managers', below, 'catalog-')
  await imports(take, world, managers, below, 'mac-2')
  await take(`${managers}delete`, `DELETE ${below}/web/2/x86_64`)
  await take('catalog-managers/delete', `DELETE /v1/catalog-managers/${id}`)
  await take('jobs/clean-up', 'DELETE /v1/jobs/cleanup')
}

/** Calls every endpoint that answers a plain request once, in an order in which each finds what it needs. */
export const takeTour = async (take: Take, world: World): Promise<void> => {
  await people(take, world)
  await machines(take, world)
  await images(take)
  await catalogs(take, world)
  await service(take, world)
  await take('events/list', 'GET /v1/events?limit=2')
}

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { test } from '../../support/harness.ts'
import { newPublicKey } from '../../support/public-key.ts'

const machine = { name: 'one', memory: 64, disks: [{ size: 10 }] }
const password = 'a-password-of-the-guest'
const key = newPublicKey()

describe('what cloud-init is told', () => {
  test('is in two files of the machine that the service alone can read, and nowhere else', async ({ call, folder }) => {
    const body = { ...machine, user_data: `#cloud-config\npassword: ${password}\n`, ssh_keys: [`${key}\n`] }
    const created = await call('POST', '/api/v1/machines', { body })
    expect(created.status).toBe(201)
    const record = await call('GET', `/api/v1/machines/${created.body.id}`)
    expect(JSON.stringify([created.body, record.body])).not.toContain(password)

    const files = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile())
      .map(({ parentPath, name }) => ({ name, path: join(parentPath, name) }))
    const secret = files.filter(({ path }) => readFileSync(path).includes(password))
    expect(secret.map(({ name }) => name).toSorted()).toEqual(['cloud-init.iso', 'cloud-init.json'])
    for (const { path } of secret) expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  test('is deleted on request, of a stopped machine alone', async ({ call, folder }) => {
    const { body } = await call('POST', '/api/v1/machines', { body: { ...machine, user_data: password } })
    const path = `/api/v1/machines/${body.id}`
    const holdsSecret = (): boolean =>
      readdirSync(folder, { recursive: true }).some(name => name.toString().includes('cloud-init'))
    await call('PUT', `${path}/start`)
    expect(await call('DELETE', `${path}/cloud-init`)).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining('stop it first') },
    })
    await call('PUT', `${path}/stop`)
    expect((await call('DELETE', `${path}/cloud-init`, { as: ['LIST_VM'] })).status).toBe(403)
    expect(holdsSecret()).toBe(true)
    expect(await call('DELETE', `${path}/cloud-init`, { as: ['UPDATE_VM'] })).toMatchObject({ status: 202 })
    expect(holdsSecret()).toBe(false)
    expect(await call('DELETE', `${path}/cloud-init`)).toMatchObject({ status: 404 })
  })

  test('may be 64 KiB long', async ({ call }) => {
    const user_data = '\n'.repeat(64 * 1024)
    expect(await call('POST', '/api/v1/machines', { body: { ...machine, user_data } })).toMatchObject({ status: 201 })
  })

  test.for([
    [
      'text that is too long',
      { user_data: `${password}${'é'.repeat(32 * 1024)}` },
      'user_data: must have at most 64 KiB',
    ],
    ['empty text', { user_data: '' }, 'user_data: must not be empty'],
    ['text with NUL', { user_data: `${password}\0` }, 'user_data: must not contain NUL'],
    ['no text', { user_data: { password } }, 'user_data: must be a text'],
    [
      'a private key',
      { ssh_keys: [`-----BEGIN OPENSSH PRIVATE KEY-----\n${password}`] },
      'ssh_keys.0: must be one public',
    ],
    ['two keys in one', { ssh_keys: [`${key}\n${key}`] }, 'ssh_keys.0: must be one public key'],
    ['a key that is cut', { ssh_keys: [key, key.replace(/.{8} .*$/, '')] }, 'ssh_keys.1: must be one public key'],
    [
      'a key of another type',
      { ssh_keys: [key.replace('ssh-ed25519', 'ssh-rsa')] },
      'ssh_keys.0: must be one public key',
    ],
    ['a key with options', { ssh_keys: [`command="sh" ${key}`] }, 'ssh_keys.0: must be one public key'],
    ['no keys', { ssh_keys: [] }, 'ssh_keys: must not be empty'],
    ['a host name with blanks', { hostname: 'my host' }, 'hostname: must be a host name'],
    ['a host name that ends with a hyphen', { hostname: 'one-.example.org' }, 'hostname: must be a host name'],
    [
      'a network that is too long',
      { network_config: 'x'.repeat(16 * 1024 + 1) },
      'network_config: must have at most 16 KiB',
    ],
  ] as const)('refuses %s by name', async ([, members, message], { call }) => {
    const refused = await call('POST', '/api/v1/machines', { body: { ...machine, ...members } })
    expect(refused).toMatchObject({ status: 400, body: { message: expect.stringContaining(message) } })
    expect(JSON.stringify(refused.body)).not.toContain(password)
  })
})

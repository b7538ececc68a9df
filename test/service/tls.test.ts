import { createHash, X509Certificate } from 'node:crypto'
import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { describe, expect, test, vi } from 'vitest'
import { type Certificate, countDaysLeft, ensureCertificate, watchCertificate } from '#lib/platform/certificate.ts'
import { openListener } from '#lib/listener/listener.ts'
import type { Logger } from '#lib/platform/log.ts'
import { createSelfSigned } from '#lib/platform/self-signed.ts'
import { newFolder } from '../support/folder.ts'
import { newState, rootPassword, runProgram, startService } from '../support/service.ts'

const day = 86_400_000
const write = (folder: string, { cert, key }: Certificate): { cert: string; key: string } => {
  mkdirSync(folder, { recursive: true })
  const files = { cert: join(folder, 'my.pem'), key: join(folder, 'my.key') }
  writeFileSync(files.cert, cert)
  writeFileSync(files.key, key, { mode: 0o600 })
  return files
}
/** A pair that will be good for so many days from now. */
const pairFor = async (days: number): Promise<Certificate> => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + (days - 825) * day + day / 2 })
  try {
    return await createSelfSigned(['localhost', '127.0.0.1'])
  } finally {
    vi.useRealTimers()
  }
}
const shown = (port: number): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false }, () => {
      resolve(socket.getPeerX509Certificate()!.fingerprint256)
      socket.destroy()
    })
    socket.once('error', reject)
  })
const fingerprint = ({ cert }: Pick<Certificate, 'cert'>): string => new X509Certificate(cert).fingerprint256

describe('the certificate', () => {
  test('of the operator is served, and a new one replaces it without a restart or a failed request', async () => {
    using folder = newFolder()
    const first = await pairFor(100)
    const files = write(folder.path, first)
    const log = { info: vi.fn<Logger['info']>(), warning: vi.fn<Logger['warning']>() }
    const listener = await openListener({
      address: new URL('https://127.0.0.1:0'),
      tls: first,
      clientAddress: peer => peer,
      fetch: (_, { address }) => Response.json({ address }),
      upgrade: async () => new Response(null, { status: 404 }),
      direct: () => undefined,
      isWebSocket: () => false,
    })
    using watch = watchCertificate({ files, certificate: first, onChange: listener.setCertificate, log })
    const port = Number(new URL(listener.url).port)
    expect(await shown(port)).toBe(fingerprint(first))

    let [stop, good, failed] = [false, 0, 0]
    const traffic = (async () => {
      while (!stop)
        await new Promise<void>(resolve => {
          const sent = request({ port, host: '127.0.0.1', rejectUnauthorized: false, agent: false }, response => {
            response.resume().once('end', () => resolve(void (good += 1)))
          })
          sent.once('error', () => resolve(void (failed += 1)))
          sent.end()
        })
    })()
    for (let round = 0; round < 20; round += 1) {
      const next = await pairFor(200 + round)
      write(folder.path, next)
      await watch.reload()
      expect(await shown(port)).toBe(fingerprint(next))
    }
    const last = await shown(port)
    // Half of a new pair, and garbage: spoken of, and not taken over.
    writeFileSync(files.cert, (await pairFor(300)).cert)
    await watch.reload()
    writeFileSync(files.cert, 'garbage')
    await watch.reload()
    await watch.reload()
    expect(log.warning).toHaveBeenCalledTimes(2)
    expect(await shown(port)).toBe(last)
    stop = true
    await traffic
    expect([good > 20, failed]).toEqual([true, 0])
    await listener.close()
  })

  test('that expires soon is logged; a self-signed one is renewed with the same key', async () => {
    using folder = newFolder()
    const log = { info: vi.fn<Logger['info']>(), warning: vi.fn<Logger['warning']>() }
    const old = await pairFor(20)
    const files = write(folder.path, old)
    watchCertificate({ files, certificate: old, onChange: () => {}, log })[Symbol.dispose]()
    expect(log.warning).toHaveBeenCalledWith(expect.any(String), { file: files.cert, days: 20 })
    copyFileSync(files.cert, join(folder.path, 'cert.pem'))
    copyFileSync(files.key, join(folder.path, 'key.pem'))
    const renewed = await ensureCertificate(folder.path, ['host'])
    expect(countDaysLeft(renewed)).toBeGreaterThan(800)
    const keyOf = ({ cert }: Certificate) =>
      createHash('sha256')
        .update(new X509Certificate(cert).publicKey.export({ type: 'spki', format: 'der' }))
        .digest('hex')
    expect(keyOf(renewed)).toBe(keyOf(old))
    expect(readFileSync(join(folder.path, 'cert.pem'), 'utf8')).toBe(renewed.cert)
    expect(await ensureCertificate(folder.path, ['host'])).toEqual(renewed)
  })

  test('that is configured is served, and a start with a wrong one fails', async () => {
    using state = newState()
    const good = await pairFor(100)
    const files = write(join(state.path, 'mine'), good)
    const env = {
      VMHOST_ROOT_PASSWORD: rootPassword,
      VMHOST_DEMO: 'off',
      VMHOST_TLS_CERTIFICATE: files.cert,
      VMHOST_TLS_KEY: files.key,
    }
    const refused = async (more: Record<string, string>, told: string): Promise<void> => {
      const ended = await runProgram(['serve'], { ...env, ...more }, state.path)
      expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining(told) })
    }
    await refused({ VMHOST_TLS_KEY: '' }, 'tls_certificate and tls_key go together')
    await refused({ VMHOST_TLS_CERTIFICATE: '/nowhere.pem' }, '/nowhere.pem')
    write(join(state.path, 'mine'), { ...good, key: (await pairFor(9)).key })
    await refused({}, 'not a certificate and its key')
    write(join(state.path, 'mine'), await pairFor(-3))
    await refused({}, 'expired')
    write(join(state.path, 'mine'), good)
    chmodSync(files.key, 0o644)
    await refused({}, 'chmod 600')
    chmodSync(files.key, 0o600)
    await refused({ VMHOST_LISTEN: 'http://0.0.0.0:0' }, 'plain_http')
    await refused({ VMHOST_TRUSTED_PROXIES: 'example.org' }, 'trusted_proxies'.toUpperCase())

    mkdirSync(join(state.path, 'tls'))
    copyFileSync(files.cert, join(state.path, 'tls/cert.pem'))
    const service = await startService({ state: state.path, env })
    const { body } = await service.call('GET', '/api/v1/health/system', { token: await service.signIn() })
    expect(body.services).toContainEqual({ name: 'certificate', healthy: true, message: 'good for 100 days' })
    const port = Number(new URL(service.url).port)
    const old = await new Promise<string>(resolve => {
      const weak = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const
      const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ...weak })
      socket.once('secureConnect', () => resolve('connected'))
      socket.once('error', error => resolve(error.message))
    })
    expect(old).toMatch(/alert protocol version/i)
    await service.stop()
  })

  test('plain HTTP on all addresses is served if configured, with a warning', async () => {
    using state = newState()
    const env = { VMHOST_ROOT_PASSWORD: rootPassword, VMHOST_DEMO: 'off', VMHOST_LISTEN: 'http://0.0.0.0:0' }
    const service = await startService({
      state: state.path,
      env: { ...env, VMHOST_PLAIN_HTTP: 'anywhere', VMHOST_TRUSTED_PROXIES: '127.0.0.0/8' },
    })
    expect(service.log()).toContain('Serving plain HTTP')
    const token = await service.signIn()
    const headers = { 'x-forwarded-for': '203.0.113.9' }
    expect((await service.call('GET', '/api/v1/auth/users', { headers })).status).toBe(401)
    const { body } = await service.call('GET', '/api/v1/audit?operation=users/list', { token })
    expect(body.entries).toMatchObject([{ address: '203.0.113.9', status: 401 }])
    await service.stop()
  })
})

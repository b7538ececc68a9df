import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { checkTrust, encodeSidecar, parseSidecar, signSidecar } from '#lib/packs/sidecar.ts'
import type { Sidecar } from '#lib/packs/sidecar.ts'

const hash = 'a'.repeat(64)

const side: Sidecar = {
  format: 1,
  name: 'win-arm64-1.pdpack',
  size: 10_000,
  sha256: hash,
  md5: 'b'.repeat(32),
  piece_size: 8192,
  pieces: [hash, 'c'.repeat(64)],
  files: [
    { name: 'config.pvs', size: 5, sha256: hash },
    { name: 'harddisk.hdd/harddisk.hdd', size: 9 },
  ],
  signatures: [],
}

const newKey = (): { pem: string; key: string } => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  return {
    pem: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    key: publicKey.export({ type: 'spki', format: 'der' }).subarray(-32).toString('base64'),
  }
}

describe('a sidecar', () => {
  test('has one text for equal content, and is parsed as it was encoded', () => {
    const text = encodeSidecar(side)
    expect(parseSidecar(text)).toEqual(side)
    const reversed = Object.fromEntries(Object.entries(side).toReversed())
    expect(encodeSidecar(parseSidecar(JSON.stringify(reversed, undefined, 2)))).toBe(text)
    expect(text.startsWith('{"files":[{"name":"config.pvs","sha256":"aaa')).toBe(true)
  })

  test.each([
    ['no JSON', '{'],
    ['null', 'null'],
    ['a list', '[]'],
    ['another format', JSON.stringify({ ...side, format: 2 })],
    ['something unknown', JSON.stringify({ ...side, more: 1 })],
    ['no size', JSON.stringify({ ...side, size: undefined })],
    ['a negative size', JSON.stringify({ ...side, size: -1, pieces: [] })],
    ['a size that is not whole', JSON.stringify({ ...side, size: 1.5 })],
    ['a digest in capitals', JSON.stringify({ ...side, sha256: 'A'.repeat(64) })],
    ['a range too few', JSON.stringify({ ...side, pieces: [hash] })],
    ['a range too many', JSON.stringify({ ...side, pieces: [hash, hash, hash] })],
    ['tiny ranges', JSON.stringify({ ...side, piece_size: 1 })],
    ['empty ranges', JSON.stringify({ ...side, piece_size: 0 })],
    ['a file that leads out', JSON.stringify({ ...side, files: [{ name: '../x', size: 1 }] })],
    ['a key that is too short', JSON.stringify({ ...side, signatures: [{ key: 'AAAA', signature: 'AAAA' }] })],
    ['too many signatures', JSON.stringify({ ...side, signatures: Array(33).fill(newKey()) })],
    ['no end', `"${'x'.repeat(49 * 1024 * 1024)}"`],
  ])('with %s is refused', (_, text) => {
    expect(() => parseSidecar(text)).toThrow(expect.objectContaining({ fault: 'upstream' }))
  })
})

describe('trust', () => {
  const [one, other] = [newKey(), newKey()]
  const signed = signSidecar(signSidecar(side, one.pem), other.pem)
  const silent = (text: string): never => expect.fail(text)

  test('finds the keys that have signed, also after encoding and parsing', () => {
    const read = parseSidecar(encodeSidecar(signed))
    expect(read.signatures.map(({ key }) => key)).toEqual([one.key, other.key])
    for (const { key } of [one, other])
      expect(checkTrust(read, { policy: 'require', keys: [newKey().key, key], warn: silent })).toBe(key)
  })

  test('refuses a signature of another sidecar', () => {
    const changes: readonly Partial<Sidecar>[] = [
      { size: 9999 },
      { sha256: 'd'.repeat(64) },
      { name: 'other.pdpack' },
      { files: [] },
      { pieces: [hash, hash] },
    ]
    for (const change of changes)
      expect(() =>
        checkTrust({ ...signed, ...change }, { policy: 'require', keys: [one.key, other.key], warn: silent }),
      ).toThrow(expect.objectContaining({ fault: 'forbidden' }))
  })

  test('refuses a trusted key with a signature of another key', () => {
    const signature = signed.signatures[1]?.signature ?? ''
    const forged = { ...side, signatures: [{ key: one.key, signature }] }
    expect(() => checkTrust(forged, { policy: 'require', keys: [one.key], warn: silent })).toThrow(
      'None of the trusted',
    )
  })

  test('is required as the policy says', () => {
    const warnings: string[] = []
    const warn = (text: string): void => void warnings.push(text)
    expect(checkTrust(side, { policy: 'off', keys: [one.key], warn })).toBeUndefined()
    expect(warnings).toEqual([])
    expect(checkTrust(signed, { policy: 'warn', keys: [], warn })).toBeUndefined()
    expect(warnings).toEqual([expect.stringContaining(side.name)])
    expect(() => checkTrust(signed, { policy: 'require', keys: [], warn })).toThrow(
      expect.objectContaining({ fault: 'forbidden' }),
    )
  })

  test('replaces the signature of a key that signs again', () => {
    const changed = signSidecar({ ...signed, size: 9000 }, one.pem)
    expect(changed.signatures).toHaveLength(2)
    expect(checkTrust(changed, { policy: 'require', keys: [one.key], warn: silent })).toBe(one.key)
  })

  test('needs an Ed25519 private key, which no message contains', () => {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const pems = [
      privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
      publicKey.export({ type: 'spki', format: 'pem' }) as string,
      'secret',
    ]
    for (const pem of pems) {
      expect(() => signSidecar(side, pem)).toThrow(expect.objectContaining({ fault: 'invalid' }))
      expect(() => signSidecar(side, pem)).not.toThrow(pem)
    }
  })
})

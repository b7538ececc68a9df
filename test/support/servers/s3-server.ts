import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AwsClient } from 'aws4fetch'
import type { Certificate } from '#lib/platform/certificate.ts'
import { findProgram } from '../programs.ts'
import { whenReachable } from '../reachable.ts'
import { freePort } from './sshd.ts'

const version = 'v1.8.0'

const output = (program: string, ...args: readonly string[]): string | undefined => {
  try {
    return execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  } catch {
    return undefined
  }
}

const goPath = output('go', 'env', 'GOPATH')

const installed = (): string | undefined => findProgram('versitygw', goPath === undefined ? [] : [join(goPath, 'bin')])

/** Whether tests against a real S3 server are left out. Where they are required, its absence fails them instead. */
export const withoutS3 = installed() === undefined && goPath === undefined && process.env['REQUIRE_PROVIDERS'] !== '1'

/** The program, built by Go when it is not here yet. */
const program = (): string => {
  const found = installed()
  if (found !== undefined) return found
  execFileSync('go', ['install', `github.com/versity/versitygw/cmd/versitygw@${version}`], { stdio: 'ignore' })
  return installed()!
}

export interface S3Server extends AsyncDisposable {
  /** Host and port. */
  readonly endpoint: string
  readonly accessKey: string
  readonly secretKey: string
  /** A signed request of its owner; `path` begins with a bucket. */
  call(method: string, path: string, body?: string | Uint8Array<ArrayBuffer>): Promise<Response>
  /** Makes an empty bucket and gives its name. */
  newBucket(): Promise<string>
}

/** A real S3 server that checks signatures, on a port of the loopback. */
export const startS3Server = async (certificate?: Certificate): Promise<S3Server> => {
  const folder = mkdtempSync(join(tmpdir(), 'vmhost-s3-'))
  const data = join(folder, 'data')
  mkdirSync(data)
  const [accessKey, secretKey] = ['the-access-key', 'the/secret+key']
  const endpoint = `127.0.0.1:${await freePort()}`
  const pem = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text, { mode: 0o600 })
    return join(folder, name)
  }
  const secure = certificate
    ? ['--cert', pem('cert.pem', certificate.cert), '--key', pem('key.pem', certificate.key)]
    : []
  const child = spawn(program(), ['--quiet', '--keep-alive', '--port', endpoint, ...secure, 'posix', data], {
    env: { ...process.env, ROOT_ACCESS_KEY_ID: accessKey, ROOT_SECRET_ACCESS_KEY: secretKey },
    stdio: 'ignore',
  })
  const exited = new Promise(resolve => child.once('exit', resolve))
  await whenReachable(endpoint, child)
  const owner = new AwsClient({
    accessKeyId: accessKey,
    secretAccessKey: secretKey,
    service: 's3',
    region: 'us-east-1',
  })
  const call: S3Server['call'] = (method, path, body) =>
    owner.fetch(`http://${endpoint}/${path}`, { method, ...(body !== undefined && { body }) })
  let buckets = 0
  return {
    endpoint,
    accessKey,
    secretKey,
    call,
    async newBucket() {
      buckets += 1
      const made = await call('PUT', `packs-${buckets}`)
      if (!made.ok) throw new Error(`the bucket was not made: ${await made.text()}`)
      return `packs-${buckets}`
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM')
      await exited
      rmSync(folder, { recursive: true })
    },
  }
}

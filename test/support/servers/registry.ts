import { spawn } from 'node:child_process'
import { createServer, type Server } from 'node:http'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { hash } from 'bcryptjs'
import { importPKCS8, SignJWT } from 'jose'
import { createSelfSigned } from '#lib/platform/self-signed.ts'
import { freePort } from './sshd.ts'

const program = '/usr/bin/docker-registry'

/** Whether Debian's docker-registry is here. */
export const registryInstalled = existsSync(program)
if (process.env['REQUIRE_PROVIDERS'] === '1' && !registryInstalled)
  throw new Error(`REQUIRE_PROVIDERS is set, and ${program} is missing`)

export const account = { username: 'clerk', password: 'open:sesame' }

export interface Registry extends AsyncDisposable {
  /** `127.0.0.1:5000` */
  readonly address: string
  /** What tokens were asked for, in order. */
  readonly scopes: string[]
}

/** A service that gives every right that is asked for to the account, in tokens that a docker-registry trusts. */
const startTokens = async (folder: string, scopes: string[]): Promise<Server> => {
  const { cert, key } = await createSelfSigned(['localhost'])
  writeFileSync(join(folder, 'tokens.pem'), cert)
  const signing = await importPKCS8(key, 'ES256')
  const basic = `Basic ${Buffer.from(`${account.username}:${account.password}`).toString('base64')}`
  const server = createServer((request, response) => {
    if (request.headers.authorization !== basic) return response.writeHead(401).end()
    const asked = new URL(request.url!, 'http://x').searchParams.getAll('scope')
    scopes.push(...asked)
    const access = asked.map(scope => {
      const [type, name, actions = ''] = scope.split(':')
      return { type, name, actions: actions.split(',') }
    })
    void new SignJWT({ access })
      .setProtectedHeader({ alg: 'ES256', typ: 'JWT', x5c: [cert.replace(/-----[^-]+-----|\s/g, '')] })
      .setIssuer('tokens')
      .setAudience('packs')
      .setSubject(account.username)
      .setNotBefore('-1m')
      .setExpirationTime('5m')
      .setIssuedAt()
      .setJti(crypto.randomUUID())
      .sign(signing)
      .then(token => response.end(JSON.stringify({ token })))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return server
}

/** A registry on a port of the loopback; everything of it is in `folder`. `auth`: how it asks who somebody is. */
export const startRegistry = async (
  folder: string,
  { auth, deletes = true }: { auth?: 'basic' | 'token'; deletes?: boolean } = {},
): Promise<Registry> => {
  mkdirSync(folder, { recursive: true })
  const address = `127.0.0.1:${await freePort()}`
  const scopes: string[] = []
  const tokens = auth === 'token' ? await startTokens(folder, scopes) : undefined
  const asks = {
    basic: { htpasswd: { realm: 'packs', path: join(folder, 'users') } },
    token: {
      token: {
        realm: `http://127.0.0.1:${(tokens?.address() as AddressInfo | undefined)?.port}/token`,
        service: 'packs',
        issuer: 'tokens',
        rootcertbundle: join(folder, 'tokens.pem'),
      },
    },
  }
  writeFileSync(join(folder, 'users'), `${account.username}:${await hash(account.password, 4)}\n`)
  const config = {
    version: '0.1',
    log: { level: 'info', accesslog: { disabled: true } },
    storage: { filesystem: { rootdirectory: join(folder, 'data') }, delete: { enabled: deletes } },
    http: { addr: address, secret: 'of this registry' },
    ...(auth && { auth: asks[auth] }),
  }
  // JSON is YAML.
  writeFileSync(join(folder, 'registry.yml'), JSON.stringify(config))
  const child = spawn(program, ['serve', join(folder, 'registry.yml')], { stdio: ['ignore', 'ignore', 'pipe'] })
  const exited = new Promise(resolve => child.once('exit', resolve))
  let printed = ''
  await new Promise<void>((resolve, reject) => {
    child.stderr.on('data', (text: Buffer) => {
      // What it logs later is read so that it can go on, and not kept.
      if (printed.length < 10_000) printed += text.toString()
      if (printed.includes('listening on')) resolve()
    })
    child.once('exit', () => reject(new Error(`docker-registry ended: ${printed}`)))
  })
  return {
    address,
    scopes,
    async [Symbol.asyncDispose]() {
      tokens?.close()
      tokens?.closeAllConnections()
      child.kill('SIGTERM')
      await exited
    },
  }
}

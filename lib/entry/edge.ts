import { DurableObject, WorkerEntrypoint } from 'cloudflare:workers'
import { hashPassword, passwordMatches } from '#lib/auth/password-hashes.ts'
import type { PasswordHasher } from '#lib/auth/remote-passwords.ts'
import type { HashMethod } from '#lib/auth/hash-methods.ts'
import { createApiDescriptionLoader } from '#lib/compose/api-description.ts'
import { type Control as OpenedControl, createReplyOptions, openControl } from '#lib/compose/control.ts'
import { readControlSettings } from '#lib/compose/control-settings.ts'
import { selectServedRoutes } from '#lib/compose/served-routes.ts'
import { createTokenGateway, type RefuseBadToken } from '#lib/compose/token-gateway.ts'
import { getAreaLogger, openLog } from '#lib/platform/log.ts'

interface ControlStub {
  fetch(request: Request): Promise<Response>
  publicKeys: OpenedControl['publicKeys']
}

interface Environment {
  readonly CONTROL: { idFromName(name: string): unknown; get(id: unknown): ControlStub }
  readonly PASSWORDS: PasswordHasher
}

const loadApiDescription = createApiDescriptionLoader(async () => {
  const { default: text } = await import('./api-description.json')
  return text
})

const replyUnavailable = (): Response =>
  Response.json(
    { code: 503, message: 'The service cannot start; its log says why.' },
    { status: 503, headers: { 'Cache-Control': 'no-store' } },
  )

/** Hashes passwords where nobody waits for anything else. */
export class Passwords extends WorkerEntrypoint implements PasswordHasher {
  async hash(password: string, method: HashMethod): Promise<string> {
    return hashPassword(password, method)
  }
  async matches(password: string, hash: string): Promise<boolean> {
    return passwordMatches(password, hash)
  }
}

/** Milliseconds after which a sleeping control removes what is too old. */
const alarmInterval = 3_600_000

/** The service without machines. There is one object of this class. */
export class Control extends DurableObject<Environment> {
  #opening: Promise<OpenedControl> | undefined

  async #openNow(): Promise<OpenedControl> {
    const settings = readControlSettings({ ...this.env })
    await openLog(settings.log, line => console.log(line.trimEnd()))
    if ((await this.ctx.storage.getAlarm()) === null) await this.ctx.storage.setAlarm(Date.now() + alarmInterval)
    return openControl({ storage: this.ctx.storage, settings, hasher: this.env.PASSWORDS, loadApiDescription })
  }
  #open(): Promise<OpenedControl> {
    this.#opening ??= this.#openNow().catch((error: unknown) => {
      // The next request tries again.
      this.#opening = undefined
      throw error
    })
    return this.#opening
  }

  async fetch(request: Request): Promise<Response> {
    const { app } = await this.#open()
    return app.fetch(request, { address: request.headers.get('cf-connecting-ip') ?? '' })
  }
  async publicKeys(): ReturnType<OpenedControl['publicKeys']> {
    const { publicKeys } = await this.#open()
    return publicKeys()
  }
  async alarm(): Promise<void> {
    const { runTimers } = await this.#open()
    runTimers()
    await this.ctx.storage.setAlarm(Date.now() + alarmInterval)
  }
}

const openGateway = (environment: Environment): RefuseBadToken => {
  const settings = readControlSettings({ ...environment })
  return createTokenGateway({
    ...createReplyOptions(settings),
    routes: selectServedRoutes(settings),
    algorithm: settings.token_algorithm,
    loadPublicKeys: () => getControl(environment).publicKeys(),
  })
}
const getControl = ({ CONTROL }: Environment): ControlStub => CONTROL.get(CONTROL.idFromName('control'))

let refuseBadToken: RefuseBadToken | undefined

export default {
  async fetch(request: Request, environment: Environment): Promise<Response> {
    try {
      refuseBadToken ??= openGateway(environment)
      return (await refuseBadToken(request)) ?? (await getControl(environment).fetch(request))
    } catch (error) {
      getAreaLogger('entry').error('The control did not answer: {error}', { error })
      console.error(error)
      return replyUnavailable()
    }
  },
}

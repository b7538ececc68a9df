import { DurableObject, WorkerEntrypoint } from 'cloudflare:workers'
import type { HashMethod } from '#lib/auth/hash-methods.ts'
import type { PasswordHasher } from '#lib/auth/passwords.ts'
import { createApiDescriptionLoader } from '#lib/compose/api-description.ts'
import { type Control as OpenControl, createReplyOptions, openControl } from '#lib/compose/control.ts'
import { controlRoutes } from '#lib/compose/hosts/control-routes.ts'
import { readEdgeConfig } from '#lib/compose/edge-config.ts'
import { selectServedRoutes } from '#lib/compose/served-routes.ts'
import { createGatewayRefusals, type GatewayRefusals } from '#lib/compose/gateway/refusals.ts'
import { createConsolePages } from '#lib/compose/assets/console-pages.ts'
import { createTokenGateway, type RefuseBadToken } from '#lib/compose/gateway/token-gateway.ts'
import type { AnswerPage } from '#lib/http/pages.ts'
import { messageOf } from '#lib/errors.ts'
import { completeUpgrade } from '#lib/events/hibernating/handshake.ts'
import type { HibernatingSocket } from '#lib/events/hibernating/socket.ts'
import { getAreaLogger, openLog } from '#lib/platform/log.ts'

/** The runtime's own, which makes both ends of a WebSocket. */
declare const WebSocketPair: new () => { readonly 0: object; readonly 1: HibernatingSocket }

interface ControlStub {
  fetch(request: Request): Promise<Response>
  publicKeys: OpenControl['publicKeys']
  recordRefusals: OpenControl['recordRefusals']
}

/** The request's own lifetime, which the platform hands in. */
interface ExecutionContext {
  waitUntil(work: Promise<unknown>): void
}

interface Environment {
  readonly CONTROL: { idFromName(name: string): unknown; get(id: unknown): ControlStub }
  readonly PASSWORDS: PasswordHasher
}

/** What the platform says about the client. */
const readAddress = ({ headers }: Request): string => headers.get('cf-connecting-ip') ?? ''

const loadApiDescription = createApiDescriptionLoader(async () => {
  const { default: text } = await import('./api-description.json')
  return text
})

/** Loaded by the first password: what hashes is large, and most instances of the program hash nothing. */
const loadHashes = () => import('#lib/auth/password-hashes.ts')

/** Hashes passwords where nobody waits for anything else. */
export class Passwords extends WorkerEntrypoint implements PasswordHasher {
  async hash(password: string, method: HashMethod): Promise<string> {
    return (await loadHashes()).hashPassword(password, method)
  }
  async matches(password: string, hash: string): Promise<boolean> {
    return (await loadHashes()).passwordMatches(password, hash)
  }
}

/** The service, which has one object of this class. It sleeps while nobody calls it. */
export class Control extends DurableObject<Environment> {
  #opening: Promise<OpenControl> | undefined
  #wakesAt = Infinity

  async #openNow(): Promise<OpenControl> {
    const { storage } = this.ctx
    const config = readEdgeConfig({ ...this.env })
    await openLog(config.log)
    this.#wakesAt = (await storage.getAlarm()) ?? Infinity
    return openControl({ storage, sockets: this.ctx, config, hasher: this.env.PASSWORDS, loadApiDescription })
  }
  async #open(): Promise<OpenControl> {
    this.#opening ??= this.#openNow()
    try {
      return await this.#opening
    } catch (error) {
      // The next request tries again.
      this.#opening = undefined
      throw error
    }
  }
  /** Sets the alarm that wakes this object for its timers, unless an earlier one is set. */
  async #scheduleWake({ getNextWake }: OpenControl): Promise<void> {
    const next = getNextWake()
    if (this.#wakesAt <= next && this.#wakesAt > Date.now()) return
    this.#wakesAt = next
    await this.ctx.storage.setAlarm(next)
  }

  async fetch(request: Request): Promise<Response> {
    const control = await this.#open()
    const { app } = control
    const from = { address: readAddress(request) }
    const { pathname } = new URL(request.url)
    const isUpgrade = request.headers.get('upgrade')?.toLowerCase() === 'websocket' && app.isWebSocket(pathname)
    const answer = async (): Promise<Response> => {
      if (!isUpgrade) return app.fetch(request, from)
      const { 0: client, 1: server } = new WebSocketPair()
      return completeUpgrade(await app.upgrade(request, from), { client, server })
    }
    const response = await answer()
    await this.#scheduleWake(control)
    return response
  }
  async publicKeys(): ReturnType<OpenControl['publicKeys']> {
    const { publicKeys } = await this.#open()
    return publicKeys()
  }
  async recordRefusals(...refusals: Parameters<OpenControl['recordRefusals']>): Promise<void> {
    const control = await this.#open()
    await control.recordRefusals(...refusals)
    await this.#scheduleWake(control)
  }
  async alarm(): Promise<void> {
    const control = await this.#open()
    await control.runTimers()
    await this.#scheduleWake(control)
  }
  async webSocketMessage(socket: HibernatingSocket, data: string | ArrayBuffer): Promise<void> {
    const { subscriptions } = await this.#open()
    subscriptions.onMessage(socket, data)
  }
  async webSocketClose(socket: HibernatingSocket): Promise<void> {
    const { subscriptions } = await this.#open()
    subscriptions.onClosed(socket)
  }
  async webSocketError(socket: HibernatingSocket): Promise<void> {
    const { subscriptions } = await this.#open()
    subscriptions.onClosed(socket)
  }
}

const getControl = ({ CONTROL }: Environment): ControlStub => CONTROL.get(CONTROL.idFromName('control'))

interface Gateway {
  readonly refuse: RefuseBadToken
  readonly refusals: GatewayRefusals
  readonly answerPage: AnswerPage | undefined
}

const openGateway = (environment: Environment): Gateway => {
  const config = readEdgeConfig({ ...environment })
  const refusals = createGatewayRefusals(gathered => getControl(environment).recordRefusals(gathered))
  const replies = createReplyOptions(config)
  const routes = selectServedRoutes(config, controlRoutes)
  const refuse = createTokenGateway({
    ...replies,
    routes,
    algorithm: config.token_algorithm,
    loadPublicKeys: () => getControl(environment).publicKeys(),
    onRefused: refusals.add,
  })
  const answerPage = createConsolePages(
    routes,
    async () => (await import('./web-console.json')).default,
    replies.headers,
  )
  return { refuse, refusals, answerPage }
}

let gateway: Gateway | undefined

/** Checks tokens where the request arrives, and passes it on to the control. */
export default {
  async fetch(request: Request, environment: Environment, context: ExecutionContext): Promise<Response> {
    try {
      gateway ??= openGateway(environment)
      const page = gateway.answerPage?.(request)
      if (page) return await page
      const refused = await gateway.refuse(request, readAddress(request))
      if (!refused) return await getControl(environment).fetch(request)
      context.waitUntil(gateway.refusals.report())
      return refused
    } catch (error) {
      getAreaLogger('entry').error('The service cannot answer: {reason}', { reason: messageOf(error), error })
      const body = { code: 503, message: 'The service cannot answer at this moment; its log says why.' }
      return Response.json(body, { status: body.code, headers: { 'Cache-Control': 'no-store', 'Retry-After': '5' } })
    }
  },
}

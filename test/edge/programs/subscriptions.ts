/** A program for workerd: a Durable Object that serves subscriptions, and sleeps while nobody calls it. */
import { DurableObject } from 'cloudflare:workers'
import { createAlarmTimers } from '#lib/compose/alarm-timers.ts'
import { completeUpgrade } from '#lib/events/hibernating/handshake.ts'
import type { HibernatingSocket } from '#lib/events/hibernating/socket.ts'
import { createHibernatingSubscriptions } from '#lib/events/hibernating/subscriptions.ts'
import { openDurableObjectStore } from '#lib/storage/durable-object/open-store.ts'
import { openSubscriptionHost } from '../../support/subscription-host.ts'

declare const WebSocketPair: new () => { readonly 0: object; readonly 1: HibernatingSocket }

export class Subscriptions extends DurableObject {
  readonly #instance = crypto.randomUUID()
  readonly #host = this.#open()

  async #open() {
    const store = await openDurableObjectStore(this.ctx.storage)
    const sockets = this.ctx
    const { every, runDue } = createAlarmTimers(store)
    const host = await openSubscriptionHost(store, every, parts =>
      createHibernatingSubscriptions({ ...parts, sockets }),
    )
    return { ...host, runDue }
  }

  async fetch(request: Request): Promise<Response> {
    const { handle, subscriptions, runDue } = await this.#host
    const { pathname } = new URL(request.url)
    if (pathname === '/instance')
      return Response.json({ instance: this.#instance, nextExpiry: subscriptions.nextExpiry() })
    if (pathname === '/timers') {
      await runDue()
      return Response.json({})
    }
    const { 0: client, 1: server } = new WebSocketPair()
    return completeUpgrade(await handle(request), { client, server })
  }
  async webSocketMessage(socket: HibernatingSocket, data: string | ArrayBuffer): Promise<void> {
    const { subscriptions } = await this.#host
    subscriptions.onMessage(socket, data)
  }
  async webSocketClose(socket: HibernatingSocket): Promise<void> {
    const { subscriptions } = await this.#host
    subscriptions.onClosed(socket)
  }
  async webSocketError(socket: HibernatingSocket): Promise<void> {
    const { subscriptions } = await this.#host
    subscriptions.onClosed(socket)
  }
}

interface Environment {
  readonly SUBSCRIPTIONS: {
    idFromName(name: string): unknown
    get(id: unknown): { fetch(request: Request): Promise<Response> }
  }
}

export default {
  fetch: (request: Request, { SUBSCRIPTIONS }: Environment): Promise<Response> =>
    SUBSCRIPTIONS.get(SUBSCRIPTIONS.idFromName('one')).fetch(request),
}

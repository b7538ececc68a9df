/**
 * The types of the client that are not generated. They are published as they are here, after those of the operations, so
 * this file has types alone.
 */
import type { Api, Event, Job } from './api.gen.ts'

/** How the client signs in by itself. */
export interface SignInCredentials {
  /** The e-mail address, or a user name in its place. */
  readonly email?: string
  readonly username?: string
  readonly password: string
}

/** Gives a token. It is asked before each request; `refused` is the token that the service has just refused. */
export type TokenProvider = (refused?: string) => string | Promise<string>

/** Where the service is, and as whom the client calls it: `signIn`, `token` or `apiKey`, or none for what is public. */
export interface ClientOptions {
  /** The address of the service, such as `https://host:8443`. In a browser it may be relative to the page. */
  readonly url: string
  /** The client signs in before its first call, and again shortly before the token expires. */
  readonly signIn?: SignInCredentials
  /** A token, or what gives one. */
  readonly token?: string | TokenProvider
  /** The member `encoded` of a new API key. */
  readonly apiKey?: string
  /** How often a call is repeated that failed for a reason that passes; 4 when left out. */
  readonly retries?: number
  /** In place of the global `fetch`, for instance one that trusts a certificate. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>
}

/** What each call takes beside its own members. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Called with each successful response before its body is read: for an ETag, or the Link to the next page. */
  readonly onResponse?: ((response: Response) => void) | undefined
}

/** A call that changes something: the client makes up a key, and repeats it with each try. */
export interface ChangeOptions extends CallOptions {
  /** The same key has one effect and gets the same reply, also from another client: 1 to 255 visible characters. */
  readonly idempotencyKey?: string | undefined
}

/** A call whose list can be filtered. */
export interface FilterOptions {
  /** `PROPERTY=PATTERN`, with `,i` for any case: only items whose property matches the regular expression. */
  readonly filter?: string | undefined
}

/** A call that can be bound to the version that the caller has seen. */
export interface IfMatchOptions {
  /** An ETag: the call changes nothing and fails with 412 unless it is the current one. */
  readonly ifMatch?: string | undefined
}

/** A call that can wait for a machine. */
export interface WaitOptions {
  /** How many seconds to wait, at most 300, while another operation of the machine excludes this one. */
  readonly wait?: number | undefined
}

/** Has the call run as a job: the reply is the job at once. Give it to `follow`. */
export interface AsJob {
  readonly async: true
  readonly wait?: never
}

/** A job whose result is the reply of the call that it runs. */
export type JobOf<Reply> = Omit<Job, 'result'> & { result?: Reply }

/** An event from a stream. One that is not in the log has no `seq` and no `cursor`. */
export type StreamedEvent = Omit<Event, 'seq' | 'cursor'> & Partial<Pick<Event, 'seq' | 'cursor'>>

/** Events after the last one that was read are not in the log any more. The stream goes on after `cursor`. */
export interface EventGap {
  readonly event_type: 'gap'
  readonly message: 'gap'
  readonly cursor: string
}

export interface EventOptions {
  /** All types when left out. */
  readonly types?: readonly Event['event_type'][] | undefined
  /** The cursor of an event: only events after it. Only new events when left out. */
  readonly since?: string | undefined
  readonly signal?: AbortSignal | undefined
}

export interface FollowOptions {
  readonly signal?: AbortSignal | undefined
  /** Called with the job at first, and whenever it has changed. */
  readonly onChange?: ((job: Job) => void) | undefined
}

/** A request to any path of the service. */
export interface SendRequest {
  /** GET when left out. */
  readonly method?: string | undefined
  /** As it is served, such as `/api/v1/machines`. */
  readonly path: string
  readonly query?: Readonly<Record<string, unknown>> | undefined
  /** It is sent as it is. A stream is sent once, so such a request is not repeated. */
  readonly body?: string | Blob | ArrayBuffer | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | undefined
  readonly headers?: Readonly<Record<string, string>> | Headers | undefined
  readonly signal?: AbortSignal | undefined
  readonly idempotencyKey?: string | undefined
}

/** A client of one service. */
export interface Client {
  /** The operations of the service, by the names in its OpenAPI document. They throw a VmhostError when it refuses. */
  readonly api: Api
  /**
   * Events as they happen, in order and each once. The loop goes on over lost connections and restarts of the service. It
   * ends with the reason of `signal`, or with the refusal of the service.
   */
  events(options?: EventOptions): AsyncGenerator<StreamedEvent | EventGap, never>
  /** Waits until a job has completed, also over restarts of the service. Throws a VmhostError when the job failed. */
  follow<J extends { readonly id: string }>(job: J, options?: FollowOptions): Promise<J>
  follow(id: string, options?: FollowOptions): Promise<Job>
  /** Sends a request with the credential and the retries of this client, and gives the response, whatever its status. */
  send(request: SendRequest): Promise<Response>
}

/** A refusal of the service, or the failure of a job. */
export declare class VmhostError extends Error {
  readonly status: number
  /** The code of the reply; the status where it has none. */
  readonly code: number
  /** What is wrong in particular, such as the members of the request that are not valid. */
  readonly details: readonly { readonly code?: number; readonly error?: string; readonly path?: string }[]
  /** The whole reply: JSON as its value, anything else as text. */
  readonly body: unknown
  readonly headers: Headers
  constructor(status: number, body?: unknown, headers?: Headers)
}

/** Makes a client of the service at an address. It connects when it is first used. */
export declare const createClient: (options: ClientOptions) => Client

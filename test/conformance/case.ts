/** The programs that serve the same endpoints. */
export type RuntimeName = 'node' | 'executable' | 'workerd'

/**
 * A method, a path, and the body and headers of a request. `/v1/…` is below `/api`; a body that is a text is sent as it is.
 * `{name}` in any text stands for what an earlier case has saved. Three methods are not of HTTP: `STREAM` reads as many
 * server-sent events as the body says, `SOCKET` opens a WebSocket and reads as many messages, `MESSAGES` reads further ones of
 * the WebSocket that was opened last.
 */
export type Ask = readonly [method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>]

/** A later request that shows what a case has changed. */
export interface Effect {
  /** Who asks; root when left out. */
  readonly as?: string
  readonly request: Ask
  /** 200 when left out. */
  readonly status?: number
  readonly reply?: unknown
  /** Asked again until the reply is the expected one. */
  readonly eventually?: true
  /** Why the reply is not compared with that of Node. */
  readonly varies?: string
}

/** A part of a reply. */
export type Part = 'status' | 'body' | `header ${string}`

/** Why, and in what, the reply of one runtime differs from that of Node. */
export interface Difference {
  readonly reason: string
  readonly parts: readonly Part[]
  /** The status there. */
  readonly status?: number
}

/** A request and what has to come of it. */
export interface Case {
  readonly name: string
  /** Who asks: root when left out, `anonymous` without a credential, or a person of the area. */
  readonly as?: string
  readonly request: Ask
  readonly status: number
  /** Members that the reply has, at least. */
  readonly reply?: unknown
  /** Headers that the reply has, at least. */
  readonly headers?: Readonly<Record<string, unknown>>
  /** Names for members of the reply (`id`, `0.id`) and for its headers (`header etag`), for later cases. */
  readonly saves?: Readonly<Record<string, string>>
  readonly effects?: readonly Effect[]
  readonly differs?: Partial<Record<Exclude<RuntimeName, 'node'>, Difference>>
}

/** A person of an area: a user without a password, who has an API key. */
export interface Person {
  readonly claims?: readonly string[]
  readonly roles?: readonly string[]
}

/** What an area needs beside the service. */
export type Need = 'bucket' | 'other service' | 'guests' | 'qemu' | 'ssh host'

/** Cases that share a fresh state, in the order in which they are asked. */
export interface Area {
  readonly name: string
  readonly people?: Readonly<Record<string, Person>>
  readonly needs?: readonly Need[]
  /** Whether the cases need a host: its machines, its disk or its network. */
  readonly withHost?: true
  /** The hypervisor of the host; embedded when left out. */
  readonly driver?: 'qemu'
  /** Runtimes that these cases are not for, each with the reason. */
  readonly leftOut?: Partial<Record<RuntimeName, string>>
  readonly cases: readonly Case[]
}

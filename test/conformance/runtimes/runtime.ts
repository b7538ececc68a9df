import type { RuntimeName } from '../case.ts'

/** What all runtimes are started with, so that their states are alike. */
export const rootPassword = 'Correct-Horse-9-Battery'

/** The origin whose pages may call the service. */
export const allowedOrigin = 'https://ui.example.org'

/** A program that serves. */
export interface Running extends AsyncDisposable {
  /** Where it is reached from outside, for WebSockets and for other services. */
  readonly url: string
  /** Sends a request to a path of it. */
  fetch(path: string, init: RequestInit): Promise<Response>
  /** Headers that the platform adds to each request; none when left out. */
  readonly platformHeaders?: Readonly<Record<string, string>>
  /** Texts of this run, such as its folder, and what stands for them in replies. */
  readonly known: Readonly<Record<string, string>>
}

/** What the cases need of a host. */
export interface StartedHost {
  readonly withHost: boolean
  /** The hypervisor; embedded when left out. */
  readonly driver?: 'qemu' | undefined
}

/** A way to run the service. */
export interface Runtime {
  readonly name: RuntimeName
  /** Why it cannot run here; empty when it can. */
  readonly absence: string
  /** Starts it with a fresh state; `withHost`: the cases need the machines, the disk or the network of a host. */
  start(options?: StartedHost): Promise<Running>
}

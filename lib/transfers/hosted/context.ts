import type { Principal } from '#lib/access/principal.ts'
import type { ProgressReporter } from '#lib/async/progress.ts'
import type { CatalogPart } from '../context.ts'
import type { ServedPacks } from './served-packs.ts'

/** What a request says about the host that it needs. */
export interface HostChoice {
  /** Id or name of the host. */
  readonly host?: string | undefined
  /** Labels that the host must have, as text: `zone=a,disk=ssd`. */
  readonly host_labels?: string | undefined
}

/** A host that runs transfers for this service. */
export interface TransferHost {
  readonly id: string
  readonly name: string
  /** Undefined before its first heartbeat. */
  readonly architecture: string | undefined
}

/** What a new machine needs of its host. */
export interface HostNeeds {
  readonly labels: string | undefined
  readonly architecture?: string
  /** The type of the machine. */
  readonly machineType?: string
  /** MB. */
  readonly disk?: number
}

/** A call of an endpoint of a host. */
export interface HostCall {
  readonly method: string
  /** The path below `/api`. */
  readonly path: string
  readonly body: object
}

/** The hosts of this service, as its transfers use them. */
export interface TransferHosts {
  /** Finds a host by its id or name. Throws `not-found`. */
  find(reference: string): TransferHost
  /** Finds the host of a machine by the id or name of the machine. Throws `not-found`, and `conflict` when several have it. */
  findOfMachine(reference: string, caller: Principal, signal: AbortSignal): Promise<TransferHost>
  /** Finds the host on which a job has begun its work, before a restart of this service. */
  findOfJob(job: string | undefined): TransferHost | undefined
  /** Returns the hosts that can take a new machine, the best one first. Throws `unavailable` when there is none. */
  rankHosts(needs: HostNeeds): readonly [best: TransferHost, ...others: TransferHost[]]
  /** Finds the first of these hosts that has a pack, named by its SHA-256, in its cache for a user. */
  findCaching(
    hosts: readonly TransferHost[],
    sha256: string,
    caller: Principal,
    signal: AbortSignal,
  ): Promise<TransferHost | undefined>
  /**
   * Runs a call as a job on a host, and gives its result. Throws the refusal of the host, the reason of the signal of `progress`
   * when the job of the host has ended, and `unavailable` when the host no longer answers.
   */
  run(host: TransferHost, caller: Principal, call: HostCall, progress: ProgressReporter): Promise<unknown>
}

/** What the transfers of a service without machines use. */
export interface HostedContext extends CatalogPart {
  readonly hosts: TransferHosts
  readonly servedPacks: Pick<ServedPacks, 'offer'>
  readonly warn: (text: string) => void
}

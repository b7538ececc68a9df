// Written by build/client.ts. Do not edit; run `npm run routes`.
import type { AsJob, CallOptions, ChangeOptions, FilterOptions, IfMatchOptions, JobOf, WaitOptions } from './types.ts'

export interface Accepted {
  /** The HTTP status of this reply */
  code: 202
  /** What the service did, for people */
  message: string
}

export interface ApiKey {
  /** UUID, given by the service */
  id: string
  /** Public part of the key */
  key: string
  /** Name that people read */
  name: string
  /** Id of the user */
  user_id: string
  /** Whether it was revoked and can never be used again */
  revoked: boolean
  /** Time of creation (RFC 3339) */
  created_at: string
  /** Time of the last change (RFC 3339) */
  updated_at: string
  /** Time of the revocation (RFC 3339) */
  revoked_at?: string
  /** Time of expiry (RFC 3339) */
  expires_at?: string
  /** Claims of its owner that the key may use; all if absent */
  claims?: string[]
  /** Credential for X-Api-Key; only in the reply that creates the key, empty afterwards */
  encoded: string
}

export interface AuditEntry {
  /** Time of the call (RFC 3339) */
  at: string
  /** X-Request-Id of the reply */
  request_id: string
  /** Id of the user who made the request */
  user_id?: string
  /** Name of the user who made the request */
  username?: string
  /** The service whose user it is; left out for a user of this service */
  issuer?: string
  /** The API key of the request */
  api_key_id?: string
  /** IP address, or local for the command line of this host */
  address: string
  /** Id of the route, as `vmhost routes` shows it */
  operation: string
  /** HTTP method */
  method: string
  /** The parameters of the path */
  target?: Record<string, string>
  /** Members of the request body that are not secret */
  details?: Record<string, unknown>
  /** Id of the created record */
  created?: string
  /** Outcome: done, refused or failed */
  outcome: 'done' | 'refused' | 'failed'
  /** The HTTP status of the reply */
  status: number
  /** Why it was refused or failed */
  message?: string
  /** Number of further refusals of the same kind */
  repeated?: number
  /** Hash of the previous entry */
  previous_hash: string
  /** SHA-256 of this entry as JSON: its members in this order without `hash`, then `seq` */
  hash: string
  /** Sequence number in the log */
  seq: number
}

export interface AuditPage {
  /** Entries of the audit log */
  entries: AuditEntry[]
  /** Number to continue from, as before or after; left out at the end */
  next?: number
}

export interface CachedManifest {
  /** UUID, given by the service */
  id: string
  /** Catalog id, case-insensitive */
  catalog_id: string
  /** Name that people read */
  name: string
  /** Text for people */
  description: string
  /** Version, such as 1.0.2-beta */
  version: string
  /** x86_64 or arm64 */
  architecture: 'x86_64' | 'arm64'
  /** Type of the machine; decides which hypervisors run it */
  type: 'pvm' | 'macvm' | 'qemu' | 'embedded'
  /** Tags; latest marks the newest version */
  tags: string[]
  /** Claims; a user needs one of them to see the manifest */
  required_claims: string[]
  /** Roles; a user needs one of them to see the manifest */
  required_roles: string[]
  minimum_requirements: MinimumSpecRequirement
  /** Whether the pack is compressed */
  is_compressed: boolean
  /** Bytes of the machine */
  size: number
  /** Bytes of the pack; for a machine in chunks, of the chunk index and of the compressed chunks */
  pack_size: number
  /** SHA-256 of the pack */
  pack_sha256: string
  /** Folder on the provider */
  path: string
  /** Object name of the pack on the provider */
  pack_filename: string
  /** Object name of the description on the provider */
  metadata_filename: string
  /** Path of the machine in the pack */
  pack_relative_path: string
  /** Number of downloads */
  download_count: number
  /** Time of the last download (RFC 3339) */
  last_downloaded_at?: string
  /** User of the last download */
  last_downloaded_user: string
  /** Whether it is tainted: nobody can use it for now */
  tainted: boolean
  /** Time when it was tainted (RFC 3339) */
  tainted_at?: string
  /** User who tainted it */
  tainted_by: string
  /** User who untainted it */
  untainted_by: string
  /** Whether it was revoked and can never be used again */
  revoked: boolean
  /** Time of the revocation (RFC 3339) */
  revoked_at?: string
  /** User who revoked it */
  revoked_by: string
  /** Time of creation (RFC 3339) */
  created_at: string
  /** Time of the last change (RFC 3339) */
  updated_at: string
  provider: CatalogManifestProvider
  /** Object name of the pack on the provider; the same as pack_filename */
  pack_path: string
  /** Object name of the description on the provider; the same as metadata_filename */
  metadata_path: string
  /** Contents of the pack */
  pack_contents: CatalogContentItem[]
  /** Files of the machine */
  virtual_machine_contents: CatalogContentItem[]
  /** Time when it was cached (RFC 3339) */
  cache_date: string
  /** Folder in the cache */
  cache_local_path: string
  /** Name of its description in the cache */
  cache_metadata_name: string
  /** Name in the cache */
  cache_file_name: string
  /** How the cache stores it */
  cache_type: string
  /** Bytes on disk */
  cache_size: number
  /** Number of pulls from the cache */
  cache_used_count: number
  /** Time of the last pull from the cache (RFC 3339) */
  cache_last_used: string
}

export interface CatalogContentItem {
  /** Name of the file */
  name: string
  /** Folder of the file */
  path: string
  /** Whether it is a folder */
  is_dir: boolean
  /** Bytes */
  size: number
  /** Digest of the content, if known */
  hash: string
  /** Time of creation (RFC 3339) */
  created_at?: string
  /** Time of the last change (RFC 3339) */
  updated_at?: string
  /** Time of the deletion (RFC 3339) */
  deleted_at?: string
}

export interface CatalogContentItemInput {
  /** Name of the file */
  name: string
  /** Folder of the file */
  path: string
  /** Whether it is a folder */
  is_dir?: boolean | null | undefined
  /** Bytes */
  size?: number | null | undefined
  /** Digest of the content, if known */
  hash?: string | null | undefined
  /** Time of creation (RFC 3339) */
  created_at?: string | null | undefined
  /** Time of the last change (RFC 3339) */
  updated_at?: string | null | undefined
  /** Time of the deletion (RFC 3339) */
  deleted_at?: string | null | undefined
}

export interface CatalogManager {
  /** UUID, given by the service */
  id: string
  /** Name that people read */
  name: string
  /** Address of the remote service */
  url: string
  /** Whether it is part of the installation; only super users change it then */
  internal: boolean
  /** false: the service does not use it */
  active: boolean
  /** credentials or api_key */
  authentication_method: string
  /** Stands for the stored value */
  username?: '********'
  /** Stands for the stored value */
  password?: '********'
  /** Stands for the stored value */
  api_key?: '********'
  /** Whether all users with the required claims can use it */
  global: boolean
  /** Claims; a user needs all of them to use a global catalog manager */
  required_claims: string[]
  /** Id of the user who created it */
  owner_id: string
  /** Time of creation (RFC 3339) */
  created_at: string
  /** Time of the last change (RFC 3339) */
  updated_at: string
}

export interface CatalogManifest {
  /** UUID of the manifest */
  id: string
  /** Catalog id, case-insensitive */
  catalog_id: string
  /** Catalog id, architecture and version in one name */
  name: string
  /** Text for people */
  description: string
  /** Version, such as 1.0.2-beta */
  version: string
  /** x86_64 or arm64 */
  architecture: 'x86_64' | 'arm64'
  /** Type of the machine; decides which hypervisors run it */
  type: 'pvm' | 'macvm' | 'qemu' | 'embedded'
  /** Tags; latest marks the newest version */
  tags: string[]
  /** Claims; a user needs one of them to see the manifest */
  required_claims: string[]
  /** Roles; a user needs one of them to see the manifest */
  required_roles: string[]
  minimum_requirements: MinimumSpecRequirement
  /** Whether the pack is compressed */
  is_compressed: boolean
  /** Bytes of the machine */
  size: number
  /** Bytes of the pack; for a machine in chunks, of the chunk index and of the compressed chunks */
  pack_size: number
  /** SHA-256 of the pack */
  pack_sha256: string
  /** Folder on the provider */
  path: string
  /** Object name of the pack on the provider */
  pack_filename: string
  /** Object name of the description on the provider */
  metadata_filename: string
  /** Path of the machine in the pack */
  pack_relative_path: string
  /** Number of downloads */
  download_count: number
  /** Time of the last download (RFC 3339) */
  last_downloaded_at?: string
  /** User of the last download */
  last_downloaded_user: string
  /** Whether it is tainted: nobody can use it for now */
  tainted: boolean
  /** Time when it was tainted (RFC 3339) */
  tainted_at?: string
  /** User who tainted it */
  tainted_by: string
  /** User who untainted it */
  untainted_by: string
  /** Whether it was revoked and can never be used again */
  revoked: boolean
  /** Time of the revocation (RFC 3339) */
  revoked_at?: string
  /** User who revoked it */
  revoked_by: string
  /** Time of creation (RFC 3339) */
  created_at: string
  /** Time of the last change (RFC 3339) */
  updated_at: string
  provider: CatalogManifestProvider
  /** Object name of the pack on the provider; the same as pack_filename */
  pack_path: string
  /** Object name of the description on the provider; the same as metadata_filename */
  metadata_path: string
  /** Contents of the pack */
  pack_contents: CatalogContentItem[]
  /** Files of the machine */
  virtual_machine_contents: CatalogContentItem[]
}

export interface CatalogManifestInput {
  /** UUID of the manifest */
  id: string
  /** Catalog id, case-insensitive */
  catalog_id: string
  /** Catalog id, architecture and version in one name */
  name: string
  /** Text for people */
  description: string
  /** Version, such as 1.0.2-beta */
  version: string
  /** x86_64 or arm64 */
  architecture: 'x86_64' | 'arm64'
  /** Type of the machine; decides which hypervisors run it */
  type: 'pvm' | 'macvm' | 'qemu' | 'embedded'
  /** Tags; latest marks the newest version */
  tags: readonly string[]
  /** Claims; a user needs one of them to see the manifest */
  required_claims: readonly string[]
  /** Roles; a user needs one of them to see the manifest */
  required_roles: readonly string[]
  minimum_requirements: MinimumSpecRequirementInput
  /** Whether the pack is compressed */
  is_compressed: boolean
  /** Bytes of the machine */
  size: number
  /** Bytes of the pack; for a machine in chunks, of the chunk index and of the compressed chunks */
  pack_size: number
  /** SHA-256 of the pack */
  pack_sha256: string
  /** Folder on the provider */
  path: string
  /** Object name of the pack on the provider */
  pack_filename: string
  /** Object name of the description on the provider */
  metadata_filename: string
  /** Path of the machine in the pack */
  pack_relative_path: string
  /** Number of downloads */
  download_count: number
  /** Time of the last download (RFC 3339) */
  last_downloaded_at?: string | null | undefined
  /** User of the last download */
  last_downloaded_user: string
  /** Whether it is tainted: nobody can use it for now */
  tainted: boolean
  /** Time when it was tainted (RFC 3339) */
  tainted_at?: string | null | undefined
  /** User who tainted it */
  tainted_by: string
  /** User who untainted it */
  untainted_by: string
  /** Whether it was revoked and can never be used again */
  revoked: boolean
  /** Time of the revocation (RFC 3339) */
  revoked_at?: string | null | undefined
  /** User who revoked it */
  revoked_by: string
  /** Time of creation (RFC 3339) */
  created_at: string
  /** Time of the last change (RFC 3339) */
  updated_at: string
  provider: CatalogManifestProviderInput
  /** Object name of the pack on the provider; the same as pack_filename */
  pack_path: string
  /** Object name of the description on the provider; the same as metadata_filename */
  metadata_path: string
  /** Contents of the pack */
  pack_contents: readonly CatalogContentItemInput[]
  /** Files of the machine */
  virtual_machine_contents: readonly CatalogContentItemInput[]
}

/** Values that could open the storage are masked */
export interface CatalogManifestProvider {
  /** Kind of provider */
  type: string
  /** Settings of the provider */
  meta: Record<string, string>
}

/** Values that could open the storage are masked */
export interface CatalogManifestProviderInput {
  /** Kind of provider */
  type: string
  /** Settings of the provider */
  meta: Record<string, string | null>
}

export interface Claim {
  /** Name of the claim */
  id: string
  /** Name that people read */
  name: string
  /** Text for people */
  description?: string
  /** Whether it is part of the service and cannot be changed or removed */
  internal: boolean
  /** Group of the claim */
  group?: string
  /** What the claim protects */
  resource?: string
  /** What the claim permits */
  action?: string
}

export interface ClaimGroup {
  /** Group of the claim */
  group: string
  /** What the claims of the group protect */
  resources: {
    /** What the claim protects */
    resource: string
    /** Claims for this resource */
    claims: Claim[]
  }[]
}

export interface ClaimWithUsers {
  /** Name of the claim */
  id: string
  /** Name that people read */
  name: string
  /** Text for people */
  description?: string
  /** Whether it is part of the service and cannot be changed or removed */
  internal: boolean
  /** Group of the claim */
  group?: string
  /** What the claim protects */
  resource?: string
  /** What the claim permits */
  action?: string
  /** Users who hold it directly */
  users: Holder[]
}

export interface ClaimedMachine {
  /** UUID of the machine */
  id: string
  /** Name of the machine */
  name: string
  /** Name of the user who has claimed it */
  owner: string
  /** Name of the pool */
  pool: string
  /** State of the machine */
  current_state: 'stopped' | 'running' | 'paused' | 'suspended' | 'invalid' | 'starting' | 'stopping' | 'restarting' | 'resetting' | 'pausing' | 'suspending' | 'resuming' | 'cloning' | 'configuring' | 'deleting' | 'snapshotting' | 'reverting'
  /** The first IP address; - if the machine has none */
  ip_configured: string
  /** The labels of the machine */
  labels: Record<string, string>
  /** The time at which the service deletes the machine */
  expires_at?: string
}

export interface ClonedMachine {
  /** UUID of the new machine */
  id: string
  /** Success */
  status: 'Success'
  /** Of a clone of a running machine: filesystem if its guest wrote its caches to its disks for it, crash if the disks are as after a power cut */
  consistency?: 'filesystem' | 'crash'
}

export interface CollectedGarbage {
  /** Chunks that stay */
  kept: number
  /** Of those, unused chunks that are too young to be removed */
  young: number
  /** Chunks that were removed, or that would be without dry_run */
  removed: number
  /** Bytes of these chunks on the provider */
  bytes: number
}

export interface CreatedMachine {
  /** UUID, given by the service */
  id: string
  /** Name that people read */
  name: string
  /** Operating system account that owns the machine */
  owner: string
  /** State of the machine */
  current_state: 'stopped' | 'running' | 'paused' | 'suspended' | 'invalid' | 'starting' | 'stopping' | 'restarting' | 'resetting' | 'pausing' | 'suspending' | 'resuming' | 'cloning' | 'configuring' | 'deleting' | 'snapshotting' | 'reverting'
  /** The mode of its network; left out without a network card */
  network?: string
  /** What its network can reach */
  message?: string
  /** The time at which the service deletes the machine */
  expires_at?: string
  /** With the query `until`: whether the condition was met, or why the wait has ended before: the time was over, or the machine has stopped or was deleted */
  until?: 'met' | 'timeout' | 'stopped' | 'gone'
  /** With the query `until`: its first IP address; - without one */
  ip_configured?: string
}

export interface CreatedSnapshot {
  /** Name of the snapshot, unique among those of the machine, in any case */
  snapshot_name: string
  /** UUID of the snapshot */
  snapshot_id: string
}

export interface Event {
  /** Random id */
  id: string
  /** Type of the event: its subject */
  event_type: 'global' | 'pdfm' | 'system' | 'system_logs' | 'health' | 'orchestrator' | 'stats' | 'reverse_proxy' | 'catalog_cache' | 'job_manager' | 'auth'
  /** Time of the event (RFC 3339) */
  timestamp: string
  /** Kind of event, such as VM_STATE_CHANGED */
  message: string
  /** Details; they depend on the kind of event */
  body?: Record<string, unknown>
  /** Sequence number in the log */
  seq: number
  /** Give it as since to continue after this event */
  cursor: string
}

export interface EventClient {
  /** Id of the WebSocket */
  id: string
  /** Id of the user */
  user_id: string
  /** Name to sign in with; unique, case-insensitive */
  username: string
  /** IP address */
  address: string
  /** Time of the connection (RFC 3339) */
  connected_at: string
  /** Time of the last ping that the service sent (RFC 3339) */
  last_ping_at?: string
  /** Time of the last pong that the client sent (RFC 3339) */
  last_pong_at?: string
  /** Types of events that it receives */
  event_subscriptions: string[]
  /** Whether the client answered the last ping */
  is_alive: boolean
  /** Bytes that wait to be sent */
  queue_depth: number
}

export interface EventPage {
  /** Events, oldest first */
  events: Event[]
  /** Give it as since to continue */
  cursor: string
  /** Events between since and these have been removed */
  gap?: true
}

export interface ForkedMachines {
  /** The forks, in the order of their names in the request */
  forks: {
    /** UUID, given by the service */
    id: string
    /** Name that people read */
    name: string
    /** State of the machine */
    current_state: 'stopped' | 'running' | 'paused' | 'suspended' | 'invalid' | 'starting' | 'stopping' | 'restarting' | 'resetting' | 'pausing' | 'suspending' | 'resuming' | 'cloning' | 'configuring' | 'deleting' | 'snapshotting' | 'reverting'
    /** The time at which the service deletes the fork */
    expires_at?: string
  }[]
  /** What each guest takes over as soon as it answers; its cards are disconnected until then */
  pending: ('mac_address' | 'hostname' | 'machine_id' | 'random_numbers')[]
  /** What the forks have in common with the machine, which is for their users to change */
  unchanged: ('hostname' | 'machine_id' | 'host_keys' | 'open_connections' | 'secrets_in_memory' | 'content_of_disks')[]
}

export interface Forward {
  /** PROTOCOL:ADDRESS:PORT of the host */
  id: string
  /** tcp or udp */
  protocol: 'tcp' | 'udp'
  /** Address of the host that the port is opened on; 127.0.0.1 if left out */
  host_address: string
  /** Port of the host, 1024 or higher */
  host_port: number
  /** Port of the guest */
  guest_port: number
}

export interface HeartbeatReply {
  /** Position in the event log of the host */
  cursor?: string
  /** The state of the machines that the service knows */
  machines_tag?: string
  /** Seconds until the next heartbeat */
  interval: number
}

export interface Holder {
  /** UUID, given by the service */
  id: string
  /** Name to sign in with; unique, case-insensitive */
  username: string
  /** Name that people read */
  name: string
  /** E-mail address; unique, case-insensitive; can be used to sign in */
  email: string
}

export interface Host {
  /** Version of the service on the host */
  version?: string
  /** The driver of its machines: qemu or embedded */
  driver?: string
  /** x86_64 or arm64 */
  architecture?: string
  /** What the host has for machines */
  capacity?: {
    /** CPUs of the host */
    cpus: number
    /** Memory of the host in MB */
    memory: number
    /** Memory in MB that nobody uses */
    free_memory: number
    /** Space in MB on the disk of its machines; left out by an earlier version of the service */
    free_disk?: number
  }
  /** UUID of the host; the audience of the assertions that the service sends to it */
  id: string
  /** Unique name of the host */
  name: string
  /** Address under which the service reaches the host */
  url: string
  /** Names with values */
  labels: Record<string, string>
  /** new: no heartbeat has come yet; unreachable: the last one is older than 45 seconds */
  state: 'new' | 'reachable' | 'unreachable'
  /** Time of the last heartbeat of an unreachable host */
  unreachable_since?: string
  /** true: the host gets no new machines */
  drained: boolean
  /** Number of its machines */
  machines: number
  /** Time of the last heartbeat (RFC 3339) */
  heard_at?: string
  /** Time of creation (RFC 3339) */
  created_at: string
  /** Time of the last change (RFC 3339) */
  updated_at: string
}

export interface Image {
  /** UUID, given by the service */
  id: string
  /** Name that people read */
  name: string
  /** disk: for disks of machines; iso: for CD-ROM drives */
  kind: 'disk' | 'iso'
  /** Text for people */
  description: string
  /** Where it was pulled from, without credentials and query */
  source_url?: string
  /** The format in which it came; disks are stored as qcow2 */
  format: 'raw' | 'qcow2' | 'vmdk' | 'vhdx' | 'ova' | 'iso'
  /** SHA-256 of what was pulled or uploaded */
  sha256: string
  /** SHA-256 of the stored file */
  digest: string
  /** Bytes of the disk as a guest sees it */
  virtual_size: number
  /** Bytes of the stored file */
  size: number
  /** The firmware that machines of this image get */
  firmware?: 'bios' | 'uefi'
  /** Time of creation (RFC 3339) */
  created_at: string
  /** Id of the user */
  created_by: string
}

export interface ImageUpload {
  /** Name that people read */
  name: string
  /** Bytes that are there; the next range begins here */
  offset: number
}

export interface ImportResult {
  /** UUID, given by the service */
  id: string
  /** Folder of the machine on this host */
  local_path: string
  /** Name of the machine on this host */
  machine_name: string
  manifest: CatalogManifest
}

export interface Job {
  /** UUID, given by the service */
  id: string
  /** Id of the user who started the job */
  owner: string
  /** User name of its owner */
  owner_name: string
  /** E-mail address of its owner */
  owner_email: string
  /** State */
  state: 'pending' | 'running' | 'completed' | 'failed'
  /** Progress of the whole, in percent */
  progress: number
  /** The area: machines, catalog */
  job_type: string
  /** The operation: clone, push, pull, … */
  job_operation: string
  /** The main parameters of the request; for its owner and super users */
  about?: Record<string, string>
  /** Present activity, for people */
  message?: string
  /** Steps, in order */
  steps?: {
    /** Name of the step */
    name: string
    /** Title that people read */
    display_name: string
    /** Weight of the step in the progress of the whole */
    weight: number
    /** Whether the percentage is known */
    has_percentage: boolean
    /** State */
    state: 'pending' | 'running' | 'completed' | 'failed' | 'skipped'
    /** Progress of the step, in percent */
    current_percentage: number
    /** Number of units done */
    value?: number
    /** Total number of units */
    total?: number
    /** Unit of value and total */
    unit?: 'bytes' | 'percent'
    /** Units per second since the step began */
    rate?: number
    /** Remaining time, such as 1m 20s */
    eta?: string
    /** The outcome, or why the step was skipped */
    message?: string
    /** Reason of the failure */
    error?: string
  }[]
  /** The body that the request would have been answered with; for its owner and super users */
  result?: unknown
  /** Id of the record that the job made or changed */
  result_record_id?: string
  /** Type of that record */
  result_record_type?: string
  /** Reason of the failure */
  error?: string
  /** The status that the request would have failed with */
  code?: number
  /** Time of creation (RFC 3339) */
  created_at: string
  /** Time of the last change (RFC 3339) */
  updated_at: string
}

export interface KeySet {
  /** Keys in the form of RFC 7517 */
  keys: Record<string, unknown>[]
}

export interface License {
  /** Whether features are restricted */
  advanced_restrictions: string
  /** CPUs that the license allows */
  cpu_total: number
  /** Whether the activation is deferred */
  deferred_activation: string
  /** Edition of the product */
  edition: string
  /** Time when the license ends; empty if it never ends */
  expiration: string
  /** End of the grace period; empty if there is none */
  grace_period_ends_at: string
  /** Whether it is a volume license */
  is_volume: string
  /** End of the main period; empty if there is none */
  main_period_ends_at: string
  /** MB of memory that the license allows */
  max_memory: number
  /** License key; empty if there is none */
  serial: string
  /** State of the license */
  status: string
  /** UUID of the host */
  uuid: string
}

export interface Machine {
  /** UUID of the machine */
  ID: string
  /** Name of the machine, unique on the host, case-insensitive */
  Name: string
  /** Text for people */
  Description: string
  /** VM */
  Type: string
  /** State of the machine; during an operation it ends in -ing */
  State: 'stopped' | 'running' | 'paused' | 'suspended' | 'invalid' | 'starting' | 'stopping' | 'restarting' | 'resetting' | 'pausing' | 'suspending' | 'resuming' | 'cloning' | 'configuring' | 'deleting' | 'snapshotting' | 'reverting'
  /** Family of the guest operating system */
  OS: string
  /** Whether the machine is a template: yes or no */
  Template: string
  /** Seconds that the machine has run; in lists, as of its last state change */
  Uptime: string
  /** File that describes the machine on the host */
  'Home path': string
  /** Folder of the machine on the host */
  Home: string
  /** File with the saved memory of a suspended machine; empty otherwise */
  'Restore Image': string
  /** Operating system account that owns the machine */
  user: string
  /** Name of the host */
  host: string
  /** UUID of the host */
  host_id: string
  /** Address of the service on the host */
  host_url: string
  /** Whether the host is healthy */
  host_state: string
  /** Address of the host for other hosts */
  host_external_ip_address: string
  /** First IP address of the machine, or empty */
  internal_ip_address: string
  /** State and version of the guest tools */
  GuestTools: {
    /** State */
    state: string
    /** Version, such as 1.0.2-beta */
    version: string
  }
  /** Input settings of other hypervisors; every machine here has the same value */
  'Mouse and Keyboard': {
    'Smart mouse optimized for games': string
    'Sticky mouse': string
    'Smooth scrolling': string
    'Keyboard optimization mode': string
  }
  /** Sharing of devices of other hypervisors; every machine here has the same value */
  'USB and Bluetooth': {
    'Automatic sharing cameras': string
    'Automatic sharing bluetooth': string
    'Automatic sharing smart cards': string
    'Automatic sharing gamepads': string
    'Support USB 3.0': string
  }
  /** Settings for starting and stopping of other hypervisors; every machine here has the same value */
  'Startup and Shutdown': {
    Autostart: string
    'Autostart delay': number
    Autostop: string
    'Startup view': string
    'On shutdown': string
    'On window close': string
    'Pause idle': string
    'Undo disks': string
  }
  /** Hypervisor type, and tuning settings of other hypervisors */
  Optimization: {
    'Faster virtual machine': string
    'Hypervisor type': string
    'Adaptive hypervisor': string
    'Disabled Windows logo': string
    'Auto compress virtual disks': string
    'Nested virtualization': string
    'PMU virtualization': string
    'Longer battery life': string
    'Show battery status': string
    'Resource quota': string
  }
  /** Settings for travelling of other hypervisors; every machine here has the same value */
  'Travel mode': {
    'Enter condition': string
    'Enter threshold': number
    'Quit condition': string
  }
  /** Encryption and protection of other hypervisors; every machine here has the same value */
  Security: {
    Encrypted: string
    'TPM enabled': string
    'TPM type': string
    'Custom password protection': string
    'Configuration is locked': string
    Protected: string
    Archived: string
    Packed: string
  }
  /** Automatic snapshots of other hypervisors; every machine here has the same value */
  'Smart Guard': {
    enabled: boolean
  }
  /** Window settings of other hypervisors; every machine here has the same value */
  Modality: {
    'Opacity (percentage)': number
    'Stay on top': string
    'Show on all spaces ': string
    'Capture mouse clicks': string
  }
  /** Full screen settings of other hypervisors; every machine here has the same value */
  Fullscreen: {
    'Use all displays': string
    'Activate spaces on click': string
    'Optimize for games': string
    'Gamma control': string
    'Scale view mode': string
  }
  /** Window integration of other hypervisors; every machine here has the same value */
  Coherence: {
    'Show Windows systray in Mac menu': string
    'Auto-switch to full screen': string
    'Disable aero': string
    'Hide minimized windows': string
  }
  /** Clock settings of other hypervisors; every machine here has the same value */
  'Time Synchronization': {
    enabled: boolean
    'Smart mode': string
    'Interval (in seconds)': number
    'Timezone synchronization disabled': string
  }
  /** Expiry of other hypervisors; every machine here has the same value */
  Expiration: {
    enabled: boolean
  }
  /** Devices that the machine boots from, in order */
  'Boot order': string
  /** Firmware of the machine */
  'BIOS type': string
  /** Whether secure boot is on: on or off */
  'EFI Secure boot': string
  /** Boot menu of other hypervisors; every machine here has the same value */
  'Allow select boot device': string
  /** Boot device of other hypervisors; every machine here has the same value */
  'External boot device': string
  /** SMBIOS data of other hypervisors; every machine here has the same value */
  'SMBIOS settings': {
    'BIOS Version': string
    'System serial number': string
    'Board Manufacturer': string
  }
  /** Folders of the host of other hypervisors; every machine here has the same value */
  'Host Shared Folders': Record<string, unknown>
  /** Sharing of other hypervisors; every machine here has the same value */
  'Host defined sharing': string
  /** Profile folders of other hypervisors; every machine here has the same value */
  'Shared Profile': {
    enabled: boolean
  }
  /** Application sharing of other hypervisors; every machine here has the same value */
  'Shared Applications': {
    enabled: boolean
    'Host-to-guest apps sharing': string
    'Guest-to-host apps sharing': string
    'Show guest apps folder in Dock': string
    'Show guest notifications': string
    'Bounce dock icon when app flashes': string
  }
  /** Mounting of host devices of other hypervisors; every machine here has the same value */
  SmartMount: {
    enabled: boolean
    'Removable drives': string
    'CD/DVD drives': string
    'Network shares': string
  }
  /** Clipboard and cloud sharing of other hypervisors; every machine here has the same value */
  'Miscellaneous Sharing': {
    'Shared clipboard': string
    'Shared cloud': string
  }
  /** Advanced settings of other hypervisors; every machine here has the same value */
  Advanced: {
    'VM hostname synchronization': string
    'Public SSH keys synchronization': string
    'Show developer tools': string
    'Swipe from edges': string
    'Share host location': string
    'Rosetta Linux': string
  }
  /** Printer settings of other hypervisors; every machine here has the same value */
  'Print Management': {
    'Synchronize with host printers': string
    'Synchronize default printer': string
    'Show host printer UI': string
  }
  /** Folders of the guest of other hypervisors; every machine here has the same value */
  'Guest Shared Folders': {
    enabled: boolean
    Automount: string
  }
  /** IP addresses of the machine, and shaping of its traffic */
  Network: {
    Conditioned: string
    Inbound: {
      Bandwidth: string
      'Packet Loss': string
      Delay: string
    }
    Outbound: {
      Bandwidth: string
      'Packet Loss': string
      Delay: string
    }
    ipAddresses: {
      /** Type of the value */
      type: string
      ip: string
    }[]
  }
  /** CPUs, memory, disks, network cards and other devices. Further disks are hdd1, hdd2 and so on, with the members of hdd0; likewise cdrom1 and net1 */
  Hardware: {
    cpu: {
      /** Number of virtual CPUs */
      cpus: number
      auto: string
      'VT-x': boolean
      hotplug: boolean
      accl: string
      mode: string
      /** Type of the value */
      type: string
    }
    memory: {
      /** Size of the machine in bytes */
      size: string
      auto: string
      hotplug: boolean
    }
    video: {
      'adapter-type': string
      /** Size of the machine in bytes */
      size: string
      '3d-acceleration': string
      'vertical-sync': string
      'high-resolution': string
      'high-resolution-in-guest': string
      'native-scaling-in-guest': string
      'automatic-video-memory': string
    }
    memory_quota: {
      auto: string
    }
    hdd0: MachineDisk
    cdrom0: MachineDrive
    usb: {
      enabled: boolean
    }
    net0: MachineNetworkCard
    sound0: {
      enabled: boolean
      output: string
      mixer: string
    }
    [name: string]: unknown
  }
  /** The problem of the machine */
  problem?: string
  /** true: a process waits for the next fork, which is fast */
  fork_ready?: boolean
  /** The id of the user who made the machine */
  owner?: string
  /** Names and values that lists can select by */
  labels?: Record<string, string>
  /** true: the service deletes the machine when it has stopped */
  ephemeral?: boolean
  /** The time at which the service deletes the machine */
  expires_at?: string
  /** What the machine may take of its host */
  limits?: {
    /** Percent of one CPU of the host; 150 is one and a half */
    cpu_percent?: number
    /** Of each disk, reads and writes together */
    disk_bytes_per_second?: number
    /** Of each disk, reads and writes together */
    disk_operations_per_second?: number
    /** Of each network card, in each direction */
    network_bytes_per_second?: number
  }
  /** Whether the service starts the machine at its own start */
  autostart?: {
    /** True: the service starts the machine when it starts itself */
    enabled: boolean
    /** Machines with a lower number start first */
    order: number
    /** Seconds to wait before this machine is started */
    delay: number
  }
  /** on-crash: the service starts the machine again when its hypervisor process has crashed */
  restart?: 'never' | 'on-crash'
}

export interface MachineCloudInitStatus {
  /** not started: the guest has no cloud-init, or it has not begun since the boot. error: it has ended, with errors */
  status: 'not started' | 'disabled' | 'running' | 'done' | 'error'
  /** What it does now: init-local, init, modules-config, … */
  stage?: string
  /** Where it has found what it is told */
  datasource?: string
  /** What has failed so far, in the words of the guest */
  errors: string[]
  /** By the clock of the guest */
  started_at?: string
  /** By the clock of the guest */
  finished_at?: string
}

export interface MachineDisk {
  /** Whether the machine has the disk */
  enabled: boolean
  /** Bus of the disk and its number there, such as virtio:0 */
  port: string
  /** File of the disk on the host */
  image: string
  /** expanded: the file grows with what the guest writes; plain: the file has the size of the disk */
  type: string
  /** Size that the guest sees, such as 20480Mb */
  size: string
  /** Whether the file shrinks while the machine runs: always off */
  'online-compact': string
}

export interface MachineDrive {
  /** Whether the machine has the drive */
  enabled: boolean
  /** Bus of the drive and its number there, such as sata:0 */
  port: string
  /** File or registered image of the inserted disc, or empty */
  image: string
  /** connected when a disc is inserted, else disconnected */
  state: string
}

export interface MachineExecuteResult {
  /** What it has written to its standard output */
  stdout: string
  /** What it has written to its standard error */
  stderr: string
  /** 128 and the number of the signal after a signal; -1 after the timeout */
  exit_code: number
  /** The signal that has ended the command */
  signal?: number
  /** Whether it has written more than max_output to it */
  stdout_truncated: boolean
  /** Whether it has written more than max_output to it */
  stderr_truncated: boolean
  /** Whether it was killed after the timeout */
  timed_out: boolean
  /** Why the command failed; left out when it succeeded */
  error?: string
}

export interface MachineNetworkCard {
  /** Whether the machine has the card */
  enabled: boolean
  /** Network that the card is connected to */
  type: string
  /** MAC address: twelve hexadecimal digits without separators */
  mac: string
  /** Model of the card that the guest sees */
  card: string
}

export interface MachineOperationResult {
  /** UUID of the machine */
  id: string
  /** The verb that was applied */
  operation: 'Start' | 'Stop' | 'Restart' | 'Suspend' | 'Resume' | 'Reset' | 'Pause'
  /** Success */
  status: 'Success'
}

export interface MachineSetResult {
  /** Operations; all are applied, or none */
  operations: {
    /** What to change: cpu, memory, machine, description or network */
    group: string
    /** How to change it: rename for machine, set for the others */
    operation: string
    /** Whether the operation was applied */
    status: 'Success' | 'Error' | 'Skipped'
    /** Why the operation was not applied; empty if it was */
    error: string
    /** With dry_run: the value before and after the change */
    change?: {
      /** Setting */
      field: string
      /** Present value */
      from: string | number
      /** Value after the change */
      to: string | number
    }
    /** With dry_run: when the change takes effect */
    effect?: 'now' | 'at the next start'
  }[]
}

export interface MachineStatus {
  /** UUID, given by the service */
  id: string
  /** State of the machine */
  status: 'stopped' | 'running' | 'paused' | 'suspended' | 'invalid' | 'starting' | 'stopping' | 'restarting' | 'resetting' | 'pausing' | 'suspending' | 'resuming' | 'cloning' | 'configuring' | 'deleting' | 'snapshotting' | 'reverting'
  /** The first IP address; - if the machine has none */
  ip_configured: string
  /** The problem of the machine, if it has one */
  problem?: string
}

export interface MachineWait {
  /** UUID, given by the service */
  id: string
  /** met, or why the wait has ended before: the time was over, the machine was stopped and the condition needs its guest, or the machine was deleted */
  result: 'met' | 'timeout' | 'stopped' | 'gone'
  /** State of the machine; left out when it is gone */
  current_state?: 'stopped' | 'running' | 'paused' | 'suspended' | 'invalid' | 'starting' | 'stopping' | 'restarting' | 'resetting' | 'pausing' | 'suspending' | 'resuming' | 'cloning' | 'configuring' | 'deleting' | 'snapshotting' | 'reverting'
  /** The first IP address; - if the machine has none */
  ip_configured: string
  /** Of a wait for serial output or for events: where the next such wait goes on */
  cursor?: string
  /** Output or events after the cursor of the request are not kept any more, so they were not searched */
  gap?: true
}

export interface MachineWrittenFile {
  /** Absolute path of the file in the guest */
  path: string
  /** Bytes */
  size: number
  /** The SHA-256 of what was written, in hexadecimal digits */
  sha256: string
}

export interface MinimumSpecRequirement {
  /** Cores */
  cpu: number
  /** MB */
  memory: number
  /** MB */
  disk: number
}

export interface MinimumSpecRequirementInput {
  /** Cores */
  cpu?: number | null | undefined
  /** MB */
  memory?: number | null | undefined
  /** MB */
  disk?: number | null | undefined
}

export interface Pool {
  /** UUID, given by the service */
  id: string
  /** Name of the pool */
  name: string
  /** What the machines are made of */
  from: {
    /** Name or digest of a registered image */
    image?: string
    /** Id or name of a machine: the machines of the pool are its copies, and forks of it while it runs */
    machine?: string
    /** Id or name of a snapshot of that machine: the machines of the pool are copies of the snapshot */
    snapshot?: string
  }
  /** What the machines are like, without what is for the guests alone */
  template: {
    /** MB of that disk, if it is to be larger than the image */
    disk_size?: number
    /** Text for people */
    description?: string
    /** Number of virtual CPUs */
    cpus?: number
    /** MB */
    memory?: number
    /** Disks, in the order of attachment */
    disks?: ({
      /** Absolute path of an existing image on the host; the machine uses it in place */
      path: string
      /** The bus of the disk; virtio when left out. Guests without drivers for virtio need ide. */
      bus?: 'virtio' | 'ide'
    } | {
      /** MB */
      size: number
      /** The bus of the disk; virtio when left out. Guests without drivers for virtio need ide. */
      bus?: 'virtio' | 'ide'
    } | {
      /** Name or digest of a registered image: the disk has its content */
      image: string
      /** Size of the machine in bytes */
      size?: number
      /** The bus of the disk; virtio when left out. Guests without drivers for virtio need ide. */
      bus?: 'virtio' | 'ide'
    })[]
    /** Absolute path of a kernel on the host, booted directly: Linux or multiboot on QEMU, only multiboot on the embedded driver */
    kernel?: string
    /** Absolute path of an initial RAM disk for the kernel */
    initrd?: string
    /** Command line of the kernel */
    cmdline?: string
    /** The mode of its only network card: isolated, nat, bridge:NAME or network:NAME; isolated if left out */
    network?: string
    /** Its network cards, in place of `network`; an empty list gives it none */
    networks?: {
      /** isolated, nat, bridge:NAME or network:NAME */
      mode: string
      /** Model of the card: virtio or e1000 */
      card?: 'virtio' | 'e1000'
    }[]
    /** Names and values that lists can select by */
    labels?: Record<string, string>
    /** true: the service deletes the machine when it has stopped, and at its own start if the machine does not run */
    ephemeral?: boolean
    /** Whether the service starts the machine at its own start */
    autostart?: {
      /** True: the service starts the machine when it starts itself */
      enabled: boolean
      /** Machines with a lower number start first */
      order: number
      /** Seconds to wait before this machine is started */
      delay: number
    }
    /** on-crash: the service starts the machine again when its hypervisor process has crashed */
    restart?: 'never' | 'on-crash'
    /** The board; q35 when left out, and pc for a multiboot kernel */
    machine_type?: 'pc' | 'q35'
    /** bios when left out */
    firmware?: 'bios' | 'uefi'
    /** True for a screen; none when left out */
    display?: boolean
    /** The number that the CPUs can grow to while the machine runs; `cpus` when left out */
    max_cpus?: number
    /** MB that the memory can grow to while the machine runs; `memory` when left out */
    max_memory?: number
    /** Device classes in the order in which the firmware tries them; disks, then CD-ROMs, when left out */
    boot_order?: ('hdd' | 'cdrom' | 'net')[]
    /** CD-ROM drives with the ISO files in them: files of the host by path, or registered images by name or digest. A drive with neither is empty */
    cdroms?: {
      /** Folder on the provider */
      path?: string
      /** Name or digest of a registered ISO image */
      image?: string
    }[]
    /** Folders of the host that the guest can mount by their names (9p) */
    shared_folders?: {
      /** Name that people read */
      name: string
      /** Folder on the provider */
      path: string
      /** ro: the guest can only read the folder */
      mode: 'ro' | 'rw'
      /** False: the machine keeps the folder, and its guest does not get it */
      enabled: boolean
      /** Text for people */
      description: string
    }[]
    /** What the machine may take of its host */
    limits?: {
      /** Percent of one CPU of the host; 150 is one and a half */
      cpu_percent?: number
      /** Of each disk, reads and writes together */
      disk_bytes_per_second?: number
      /** Of each disk, reads and writes together */
      disk_operations_per_second?: number
      /** Of each network card, in each direction */
      network_bytes_per_second?: number
    }
    /** Public keys that may sign in as the default user of the guest */
    ssh_keys?: string[]
    /** The host name of the guest; default: the name of the machine, if it can be one */
    hostname?: string
  }
  /** The condition that a machine fulfils when it is ready */
  until?: string
  /** The number of machines that are kept ready */
  min: number
  /** The most machines, with those that are claimed */
  max: number
  /** Seconds after which a ready machine that nobody has claimed is replaced */
  idle_ttl: number
  /** Time of creation (RFC 3339) */
  created_at: string
  /** Id of the user who defined the pool */
  created_by: string
  /** The number of claims that wait for a machine */
  waiting: number
  /** Why machines cannot be made at present */
  problem?: string
  /** The machines of the pool, the oldest first */
  members: {
    /** UUID of the machine */
    id: string
    /** Name that the machine was made with */
    name: string
    /** preparing, ready, claimed, or leaving: it is being deleted */
    state: 'preparing' | 'ready' | 'claimed' | 'leaving'
    /** Time at which this state began (RFC 3339) */
    since: string
    /** Name of the user who has claimed the machine */
    claimed_by?: string
  }[]
}

export interface PullResult {
  /** Id of the manifest */
  id: string
  /** Catalog id, case-insensitive */
  catalog_id: string
  /** Version, such as 1.0.2-beta */
  version: string
  /** x86_64 or arm64 */
  architecture: string
  /** Folder of the machine */
  local_path: string
  /** Folder of the machine in the cache */
  local_cache_path: string
  /** UUID of the machine on this host */
  machine_id: string
  /** Name of the machine on this host */
  machine_name: string
  manifest: CatalogManifest
}

/** Only a control sends this, signed. The host then pulls this pack and asks no catalog */
export interface PullSourceInput {
  manifest: CatalogManifestInput
  /** Address of the catalog; that of the control when left out */
  catalog?: string | null | undefined
  /** Where the pack is. When left out, the host reads the pack through the control */
  storage?: {
    /** Type of the value */
    type: string
    /** Settings of the provider */
    meta: Record<string, string | null>
  } | undefined
  /** MD5 of the pack, if the manifest has no SHA-256 */
  md5?: string | null | undefined
  /** The job of the control under which the host reads the pack */
  job?: string | null | undefined
}

/** Only a control sends this, signed. The host then uploads the pack and replies with what the control registers */
export interface PushTargetInput {
  /** Id of the manifest if it is new */
  id: string
  /** The manifest that the push replaces */
  existing?: {
    /** UUID, given by the service */
    id?: string | null | undefined
    /** Object name of the pack on the provider */
    pack_filename: string
    /** SHA-256 of the pack */
    pack_sha256: string
    /** Whether it was revoked and can never be used again */
    revoked: boolean
  } | undefined
  /** Objects that the push must not overwrite */
  hidden: readonly string[]
}

export interface RegisteredHost {
  /** Version of the service on the host */
  version?: string
  /** The driver of its machines: qemu or embedded */
  driver?: string
  /** x86_64 or arm64 */
  architecture?: string
  /** What the host has for machines */
  capacity?: {
    /** CPUs of the host */
    cpus: number
    /** Memory of the host in MB */
    memory: number
    /** Memory in MB that nobody uses */
    free_memory: number
    /** Space in MB on the disk of its machines; left out by an earlier version of the service */
    free_disk?: number
  }
  /** UUID of the host; the audience of the assertions that the service sends to it */
  id: string
  /** Unique name of the host */
  name: string
  /** Address under which the service reaches the host */
  url: string
  /** Names with values */
  labels: Record<string, string>
  /** new: no heartbeat has come yet; unreachable: the last one is older than 45 seconds */
  state: 'new' | 'reachable' | 'unreachable'
  /** Time of the last heartbeat of an unreachable host */
  unreachable_since?: string
  /** true: the host gets no new machines */
  drained: boolean
  /** Number of its machines */
  machines: number
  /** Time of the last heartbeat (RFC 3339) */
  heard_at?: string
  /** Time of creation (RFC 3339) */
  created_at: string
  /** Time of the last change (RFC 3339) */
  updated_at: string
  /** The secret control_key of the host; shown only here */
  key: string
}

/** The result of an import in the format of the remote service */
export interface RemoteImport {
  /** UUID, given by the service */
  id?: string
  /** Folder of the machine on this host */
  local_path?: string
  /** Name of the machine on this host */
  machine_name?: string
  manifest?: RemoteManifest
  [name: string]: unknown
}

/** A manifest in the format of the remote service: it may lack members, or have more */
export interface RemoteManifest {
  /** UUID, given by the service */
  id?: string
  /** Catalog id, case-insensitive */
  catalog_id?: string
  /** Name that people read */
  name?: string
  /** Text for people */
  description?: string
  /** Version, such as 1.0.2-beta */
  version?: string
  /** x86_64 or arm64 */
  architecture?: 'x86_64' | 'arm64'
  /** Type of the machine; decides which hypervisors run it */
  type?: 'pvm' | 'macvm' | 'qemu' | 'embedded'
  /** Tags; latest marks the newest version */
  tags?: string[]
  /** Claims; a user needs one of them to see the manifest */
  required_claims?: string[]
  /** Roles; a user needs one of them to see the manifest */
  required_roles?: string[]
  minimum_requirements?: MinimumSpecRequirement
  /** Whether the pack is compressed */
  is_compressed?: boolean
  /** Bytes of the machine */
  size?: number
  /** Bytes of the pack; for a machine in chunks, of the chunk index and of the compressed chunks */
  pack_size?: number
  /** SHA-256 of the pack */
  pack_sha256?: string
  /** Folder on the provider */
  path?: string
  /** Object name of the pack on the provider */
  pack_filename?: string
  /** Object name of the description on the provider */
  metadata_filename?: string
  /** Path of the machine in the pack */
  pack_relative_path?: string
  /** Number of downloads */
  download_count?: number
  /** Time of the last download (RFC 3339) */
  last_downloaded_at?: string
  /** User of the last download */
  last_downloaded_user?: string
  /** Whether it is tainted: nobody can use it for now */
  tainted?: boolean
  /** Time when it was tainted (RFC 3339) */
  tainted_at?: string
  /** User who tainted it */
  tainted_by?: string
  /** User who untainted it */
  untainted_by?: string
  /** Whether it was revoked and can never be used again */
  revoked?: boolean
  /** Time of the revocation (RFC 3339) */
  revoked_at?: string
  /** User who revoked it */
  revoked_by?: string
  /** Time of creation (RFC 3339) */
  created_at?: string
  /** Time of the last change (RFC 3339) */
  updated_at?: string
  provider?: CatalogManifestProvider
  /** Object name of the pack on the provider; the same as pack_filename */
  pack_path?: string
  /** Object name of the description on the provider; the same as metadata_filename */
  metadata_path?: string
  /** Contents of the pack */
  pack_contents?: CatalogContentItem[]
  /** Files of the machine */
  virtual_machine_contents?: CatalogContentItem[]
  [name: string]: unknown
}

export interface Role {
  /** Name of the role */
  id: string
  /** Name that people read */
  name: string
  /** Text for people */
  description?: string
  /** Whether it is part of the service and cannot be changed or removed */
  internal: boolean
  /** Claims of the role */
  claims: Claim[]
  /** Users who hold it directly */
  users: Holder[]
}

export interface RotatedKey {
  /** Id of the new signing key */
  kid: string
}

export interface Session {
  /** Id of the user */
  user_id: string
  /** Name to sign in with; unique, case-insensitive */
  username: string
  /** E-mail address; unique, case-insensitive; can be used to sign in */
  email: string
  /** Passes every check of a claim */
  super_user: boolean
  /** Names of roles */
  roles: string[]
  /** Held directly and through roles */
  claims: string[]
}

export interface SignInLink {
  /** Append it to the address of the service. A browser sends the part after # to nobody */
  fragment: string
  /** 24 hours from now */
  expires_at: string
}

export interface Snapshot {
  /** UUID, given by the service */
  id: string
  /** Name of the snapshot, unique among those of the machine, in any case */
  name: string
  /** Text for people */
  description: string
  /** Time of creation in UTC, as YYYY-MM-DD hh:mm:ss */
  date: string
  /** Time of creation (RFC 3339) */
  created_at: string
  /** The state that a revert leads to: running, paused, suspended, or stopped without memory */
  state: 'poweron' | 'pause' | 'suspend' | 'poweroff'
  /** Whether the machine was last on this snapshot */
  current: boolean
  /** Id of the snapshot that the machine was on before; empty for a first one */
  parent: string
  /** Bytes that the snapshot took of the host when it was made */
  size: number
  /** Name of the schedule that has made the snapshot, whose rules may delete it; left out for others */
  schedule?: string
}

export interface SnapshotList {
  /** The snapshots of the machine, the oldest first, or the roots of their trees */
  snapshots: SnapshotNode[]
}

export interface SnapshotNode {
  /** UUID, given by the service */
  id: string
  /** Name of the snapshot, unique among those of the machine, in any case */
  name: string
  /** Text for people */
  description: string
  /** Time of creation in UTC, as YYYY-MM-DD hh:mm:ss */
  date: string
  /** Time of creation (RFC 3339) */
  created_at: string
  /** The state that a revert leads to: running, paused, suspended, or stopped without memory */
  state: 'poweron' | 'pause' | 'suspend' | 'poweroff'
  /** Whether the machine was last on this snapshot */
  current: boolean
  /** Id of the snapshot that the machine was on before; empty for a first one */
  parent: string
  /** Bytes that the snapshot took of the host when it was made */
  size: number
  /** Name of the schedule that has made the snapshot, whose rules may delete it; left out for others */
  schedule?: string
  /** With group=true: the snapshots that were made on top of this one; left out if there are none */
  children?: SnapshotNode[]
}

export interface SnapshotSchedule {
  /** Name of the schedule, unique among those of the machine, in any case */
  name: string
  /** Seconds from one snapshot to the next */
  every?: number
  /** Times of the day (UTC), in place of `every` */
  at?: string[]
  /** Whether the memory of a running or paused machine is saved too: then each snapshot is a checkpoint */
  memory: boolean
  /** Which snapshots of this schedule are kept */
  keep: {
    /** So many of the newest snapshots */
    last?: number
    /** The newest snapshot of an hour, for so many hours */
    hourly?: number
    /** The newest snapshot of a day, for so many days */
    daily?: number
    /** The newest snapshot of a week, for so many weeks from Monday on */
    weekly?: number
  }
  /** MB that the snapshots of this schedule may take together; the oldest are deleted first */
  max_size?: number
  /** Name of the user with whose rights it runs */
  set_by: string
  /** When it was set */
  set_at: string
  /** When it runs the next time. A run that was missed is made up once */
  next_at: string
  /** When it has run the last time */
  last_at?: string
  /** Why the last run has failed; left out if it has not */
  problem?: string
}

export interface SnapshotScheduleList {
  /** The schedules of the machine, ordered by name */
  schedules: SnapshotSchedule[]
}

export interface SshResult {
  /** Output of the command on stdout and stderr, in the order of arrival */
  output: string
  /** Why the command failed; empty when it succeeded */
  error: string
}

export interface SubscriptionStats {
  /** Number of connected WebSockets */
  total_clients: number
  /** Number of subscribed event types, over all WebSockets */
  total_subscriptions: number
  /** Number of WebSockets by type of event */
  type_stats: Record<string, number>
  /** Number of messages sent since the start */
  messages_sent: number
  /** Time when the service started (RFC 3339) */
  start_time: string
  /** Time since the start, such as 1h2m3s */
  uptime: string
}

export interface SystemHealth {
  /** Whether everything works */
  healthy: boolean
  /** Health of the whole service in one sentence */
  message: string
  /** What does not work */
  error_message?: string
  /** Parts of the service */
  services: {
    /** Name of the part */
    name: string
    /** Whether everything works */
    healthy: boolean
    /** Details of the health of the part */
    message: string
  }[]
}

export interface Ticket {
  /** Goes into the query of the WebSocket, as `ticket` */
  ticket: string
  /** Thirty seconds from now */
  expires_at: string
}

export interface Token {
  /** E-mail address of the user */
  email: string
  /** Seconds since 1970 */
  expires_at: number
  /** Token (JWT) */
  token: string
}

export interface User {
  /** UUID, given by the service */
  id: string
  /** Name to sign in with; unique, case-insensitive */
  username: string
  /** Name that people read */
  name: string
  /** E-mail address; unique, case-insensitive; can be used to sign in */
  email: string
  /** Names of roles */
  roles: string[]
  /** Held directly */
  claims: string[]
  /** Held directly and by roles */
  effective_claims: {
    /** Name of the claim */
    id: string
    /** Name of the claim */
    name: string
    /** Whether a role gives the claim */
    is_inherited: boolean
    /** Role that gives the claim */
    source_role?: string
  }[]
  /** Whether every claim check passes */
  isSuperUser: boolean
  /** Sign-in is refused until then */
  locked_until?: string
  /** Time of creation (RFC 3339) */
  created_at: string
  /** Time of the last change (RFC 3339) */
  updated_at: string
}

export interface UserConfig {
  /** UUID, given by the service */
  id: string
  /** Id of the user */
  user_id: string
  /** Short name, unique among the settings of the user, case-insensitive */
  slug: string
  /** Name that people read */
  name: string
  /** Type of the value */
  type: 'string' | 'bool' | 'int' | 'json'
  /** Value as text, for every type */
  value: string
  /** Time of creation (RFC 3339) */
  created_at: string
  /** Time of the last change (RFC 3339) */
  updated_at: string
}

/** The request of `api.audit.list`. */
export interface AuditListRequest extends CallOptions {
  query?: {
    /** Maximum number of items on a page */
    limit?: number | undefined
    /** Entries with a smaller number, newest first */
    before?: number | undefined
    /** Entries with a greater number, oldest first */
    after?: number | undefined
    /** Id or name of the user */
    user?: string | undefined
    /** As `vmhost routes` names it; a prefix ends with * */
    operation?: string | undefined
    /** Outcome: done, refused or failed */
    outcome?: 'done' | 'refused' | 'failed' | undefined
    /** Earliest time (RFC 3339) */
    from?: string | undefined
    /** Latest time (RFC 3339) */
    to?: string | undefined
  } | undefined
}

/** The request of `api.auth.changePassword`. */
export interface AuthChangePasswordRequest extends ChangeOptions {
  body: {
    /** Password */
    password: string
    /** The new password */
    new_password: string
  }
}

/** The request of `api.auth.createApiKey`. */
export interface AuthCreateApiKeyRequest extends ChangeOptions {
  body: {
    /** Name that people read */
    name: string
    /** Made up when left out */
    key?: string | null | undefined
    /** Made up when left out */
    secret?: string | null | undefined
    /** Whether it was revoked and can never be used again */
    revoked?: boolean | null | undefined
    /** Id, e-mail address or user name of whose key it is; the caller’s when left out */
    user_id?: string | null | undefined
    /** Time of expiry (RFC 3339) */
    expires_at?: string | null | undefined
    /** Narrows the key to these of its owner’s claims */
    claims?: readonly string[] | null | undefined
    /** Ignored: the service says that */
    id?: unknown
    /** Ignored: the service says that */
    encoded?: unknown
    /** Ignored: the service says that */
    created_at?: unknown
    /** Ignored: the service says that */
    updated_at?: unknown
    /** Ignored: the service says that */
    revoked_at?: unknown
  }
}

/** The request of `api.auth.createLink`. */
export interface AuthCreateLinkRequest extends ChangeOptions {
}

/** The request of `api.auth.createTicket`. */
export interface AuthCreateTicketRequest extends ChangeOptions {
  body: {
    /** Path of the WebSocket below /api, with its query */
    path: string
  }
}

/** The request of `api.auth.deleteApiKey`. */
export interface AuthDeleteApiKeyRequest extends ChangeOptions {
  params: {
    /** Id or name, in any case */
    id: string
  }
}

/** The request of `api.auth.listApiKeys`. */
export interface AuthListApiKeysRequest extends CallOptions, FilterOptions {
}

/** The request of `api.auth.openSession`. */
export interface AuthOpenSessionRequest extends CallOptions {
  body: {
    /** User name or e-mail address */
    name: string
    /** Password */
    password: string
  }
}

/** The request of `api.auth.publicKeys`. */
export interface AuthPublicKeysRequest extends CallOptions {
}

/** The request of `api.auth.revokeApiKey`. */
export interface AuthRevokeApiKeyRequest extends ChangeOptions {
  params: {
    /** Id or name, in any case */
    id: string
  }
}

/** The request of `api.auth.rotateKey`. */
export interface AuthRotateKeyRequest extends ChangeOptions {
}

/** The request of `api.auth.showApiKey`. */
export interface AuthShowApiKeyRequest extends CallOptions {
  params: {
    /** Id or name, in any case */
    id: string
  }
}

/** The request of `api.auth.showSession`. */
export interface AuthShowSessionRequest extends CallOptions {
}

/** The request of `api.auth.signIn`. */
export interface AuthSignInRequest extends CallOptions {
  body: {
    /** E-mail address, user name or id, case-insensitive */
    email?: string | null | undefined
    /** E-mail address, user name or id, case-insensitive */
    username?: string | null | undefined
    /** Password */
    password?: string | null | undefined
    /** API key in place of a password: base64 of KEY:SECRET */
    api_key?: string | null | undefined
  }
}

/** The request of `api.auth.signOut`. */
export interface AuthSignOutRequest extends ChangeOptions {
}

/** The request of `api.auth.useLink`. */
export interface AuthUseLinkRequest extends CallOptions {
  body: {
    /** The part of the link after #/link/ */
    secret: string
    /** The new password */
    password: string
  }
}

/** The request of `api.auth.validateOwnToken`. */
export interface AuthValidateOwnTokenRequest extends CallOptions {
}

/** The request of `api.auth.validateToken`. */
export interface AuthValidateTokenRequest extends CallOptions {
  body: {
    /** Token (JWT) */
    token: string
  }
}

/** The request of `api.catalog.addClaims`. */
export interface CatalogAddClaimsRequest extends ChangeOptions, IfMatchOptions {
  params: {
    /** Catalog ID */
    catalogId: string
    /** Version, such as 1.0.2-beta */
    version: string
    /** x86_64 or arm64 */
    architecture: string
  }
  body: {
    /** Claims; a user needs one of them to see the manifest */
    required_claims?: readonly string[] | null | undefined
    /** Roles; a user needs one of them to see the manifest */
    required_roles?: readonly string[] | null | undefined
    /** Tags; latest marks the newest version */
    tags?: readonly string[] | null | undefined
  }
}

/** The request of `api.catalog.addRoles`. */
export interface CatalogAddRolesRequest extends ChangeOptions, IfMatchOptions {
  params: {
    /** Catalog ID */
    catalogId: string
    /** Version, such as 1.0.2-beta */
    version: string
    /** x86_64 or arm64 */
    architecture: string
  }
  body: {
    /** Claims; a user needs one of them to see the manifest */
    required_claims?: readonly string[] | null | undefined
    /** Roles; a user needs one of them to see the manifest */
    required_roles?: readonly string[] | null | undefined
    /** Tags; latest marks the newest version */
    tags?: readonly string[] | null | undefined
  }
}

/** The request of `api.catalog.addTags`. */
export interface CatalogAddTagsRequest extends ChangeOptions, IfMatchOptions {
  params: {
    /** Catalog ID */
    catalogId: string
    /** Version, such as 1.0.2-beta */
    version: string
    /** x86_64 or arm64 */
    architecture: string
  }
  body: {
    /** Claims; a user needs one of them to see the manifest */
    required_claims?: readonly string[] | null | undefined
    /** Roles; a user needs one of them to see the manifest */
    required_roles?: readonly string[] | null | undefined
    /** Tags; latest marks the newest version */
    tags?: readonly string[] | null | undefined
  }
}

/** The request of `api.catalog.connect`. */
export interface CatalogConnectRequest extends ChangeOptions, IfMatchOptions {
  params: {
    /** Catalog ID */
    catalogId: string
    /** Version, such as 1.0.2-beta */
    version: string
    /** x86_64 or arm64 */
    architecture: string
  }
  body: {
    /** Connection string of the storage provider: provider=…;… */
    connection: string
  }
}

/** The request of `api.catalog.delete`. */
export interface CatalogDeleteRequest extends ChangeOptions, IfMatchOptions {
  params: {
    /** Catalog ID */
    catalogId: string
    /** Version, such as 1.0.2-beta */
    version?: string | undefined
    /** x86_64 or arm64 */
    architecture?: string | undefined
  }
  query?: {
    /** false leaves the objects on the provider */
    clean_remote?: boolean | undefined
  } | undefined
}

/** The request of `api.catalog.describe`. */
export interface CatalogDescribeRequest extends ChangeOptions, IfMatchOptions {
  params: {
    /** Catalog ID */
    catalogId: string
    /** Version, such as 1.0.2-beta */
    version: string
    /** x86_64 or arm64 */
    architecture: string
  }
  body: {
    /** Text for people */
    description?: string | null | undefined
    /** Claims; a user needs one of them to see the manifest */
    required_claims?: readonly string[] | null | undefined
    /** Roles; a user needs one of them to see the manifest */
    required_roles?: readonly string[] | null | undefined
    /** Tags; latest marks the newest version */
    tags?: readonly string[] | null | undefined
  }
}

/** The request of `api.catalog.download`. */
export interface CatalogDownloadRequest extends CallOptions {
  params: {
    /** Catalog ID */
    catalogId: string
    /** Version, such as 1.0.2-beta */
    version: string
    /** x86_64 or arm64 */
    architecture: string
  }
  query?: {
    /** Which bytes to send; without it the reply is the manifest */
    content?: 'pack' | 'metadata' | 'pieces' | 'chunk' | undefined
    /** With content=chunk: the chunk */
    sha256?: string | undefined
    /** Id of the job that downloads; all requests of a job count as one download */
    job?: string | undefined
  } | undefined
}

/** The request of `api.catalog.garbage`. */
export interface CatalogGarbageRequest extends ChangeOptions {
  body: {
    /** Connection string of the storage provider: provider=…;… */
    connection: string
    /** true only counts the chunks; the default is true */
    dry_run?: boolean | null | undefined
    /** Younger chunks stay, because an interrupted push may continue */
    grace_hours?: number | null | undefined
  }
}

/** The request of `api.catalog.import`. */
export interface CatalogImportRequest extends ChangeOptions {
  query?: {
    /** true: the transfer is cancelled when the caller goes away. Otherwise it continues as a job */
    cancel_on_disconnect?: boolean | undefined
  } | undefined
  body: {
    /** Catalog id, case-insensitive */
    catalog_id: string
    /** Version, such as 1.0.2-beta */
    version: string
    /** x86_64 or arm64; other names of these are accepted */
    architecture: 'x86_64' | 'arm64'
    /** Connection string of the storage provider: provider=…;… */
    connection: string
    /** Further settings of the provider */
    provider_metadata?: Record<string, string | null> | null | undefined
  }
}

/** The request of `api.catalog.importVm`. */
export interface CatalogImportVmRequest extends ChangeOptions {
  query?: {
    /** true: the transfer is cancelled when the caller goes away. Otherwise it continues as a job */
    cancel_on_disconnect?: boolean | undefined
  } | undefined
  body: {
    /** Catalog id, case-insensitive */
    catalog_id: string
    /** Version, such as 1.0.2-beta */
    version: string
    /** x86_64 or arm64; other names of these are accepted */
    architecture: 'x86_64' | 'arm64'
    /** Connection string of the storage provider: provider=…;… */
    connection: string
    /** Further settings of the provider */
    provider_metadata?: Record<string, string | null> | null | undefined
    /** Path of the machine on the provider */
    machine_remote_path: string
    /** Type of the machine */
    type?: '' | 'pvm' | 'macvm' | 'qemu' | 'embedded' | null | undefined
    /** Size of the machine in bytes */
    size: number
    /** Whether the pack is compressed */
    is_compressed?: boolean | null | undefined
    /** true: replace an existing manifest */
    force?: boolean | null | undefined
    /** Text for people */
    description?: string | null | undefined
    /** Claims; a user needs one of them to see the manifest */
    required_claims?: readonly string[] | null | undefined
    /** Roles; a user needs one of them to see the manifest */
    required_roles?: readonly string[] | null | undefined
    /** Tags; latest marks the newest version */
    tags?: readonly string[] | null | undefined
  }
}

/** The request of `api.catalog.list`. */
export interface CatalogListRequest extends CallOptions, FilterOptions {
  query?: {
    /** Manifests on a page; all when left out */
    limit?: number | undefined
    /** From the Link of the previous page */
    cursor?: string | undefined
  } | undefined
}

/** The request of `api.catalog.pull`. */
export interface CatalogPullRequest extends ChangeOptions {
  query?: {
    /** true: the transfer is cancelled when the caller goes away. Otherwise it continues as a job */
    cancel_on_disconnect?: boolean | undefined
  } | undefined
  body: {
    /** Catalog id, case-insensitive */
    catalog_id: string
    /** Version, such as 1.0.2-beta */
    version?: string | null | undefined
    /** The architecture of this host when left out */
    architecture?: '' | 'x86_64' | 'arm64' | null | undefined
    /** host=… of another catalog. This catalog when left out */
    connection?: string | null | undefined
    /** Name of the machine on this host */
    machine_name: string
    /** Further settings of the provider */
    provider_metadata?: Record<string, string | null> | null | undefined
    /** true: start the machine after the pull */
    start_after_pull?: boolean | null | undefined
    /** Only from a control to its host: where the pack of this pull is */
    source?: PullSourceInput | null | undefined
  }
}

/** The request of `api.catalog.pullAsync`. */
export interface CatalogPullAsyncRequest extends ChangeOptions {
  query?: {
    /** true: the transfer is cancelled when the caller goes away. Otherwise it continues as a job */
    cancel_on_disconnect?: boolean | undefined
  } | undefined
  body: {
    /** Catalog id, case-insensitive */
    catalog_id: string
    /** Version, such as 1.0.2-beta */
    version?: string | null | undefined
    /** The architecture of this host when left out */
    architecture?: '' | 'x86_64' | 'arm64' | null | undefined
    /** host=… of another catalog. This catalog when left out */
    connection?: string | null | undefined
    /** Name of the machine on this host */
    machine_name: string
    /** Further settings of the provider */
    provider_metadata?: Record<string, string | null> | null | undefined
    /** true: start the machine after the pull */
    start_after_pull?: boolean | null | undefined
    /** Only from a control to its host: where the pack of this pull is */
    source?: PullSourceInput | null | undefined
  }
}

/** The request of `api.catalog.push`. */
export interface CatalogPushRequest extends ChangeOptions, WaitOptions {
  query?: {
    /** true: the transfer is cancelled when the caller goes away. Otherwise it continues as a job */
    cancel_on_disconnect?: boolean | undefined
  } | undefined
  body: {
    /** Catalog id, case-insensitive */
    catalog_id: string
    /** Version, such as 1.0.2-beta */
    version: string
    /** The architecture of this host when left out */
    architecture?: '' | 'x86_64' | 'arm64' | null | undefined
    /** Connection string of the storage provider: provider=…;… */
    connection: string
    /** Folder of a machine of this host, or of a pvm or macvm bundle */
    local_path?: string | null | undefined
    /** Id or name of a machine of this host, in place of local_path */
    uuid?: string | null | undefined
    /** Text for people */
    description?: string | null | undefined
    /** Minimum resources that the machine needs */
    minimum_requirements?: MinimumSpecRequirementInput | null | undefined
    /** Claims; a user needs one of them to see the manifest */
    required_claims?: readonly string[] | null | undefined
    /** Roles; a user needs one of them to see the manifest */
    required_roles?: readonly string[] | null | undefined
    /** Tags; latest marks the newest version */
    tags?: readonly string[] | null | undefined
    /** The same as compress */
    compress_pack?: boolean | null | undefined
    /** false: do not compress the pack */
    compress?: boolean | null | undefined
    /** The same as compress_level */
    compress_pack_level?: number | string | null | undefined
    /** Compression level 0–9, or best_speed, balanced, best_compression, no_compression */
    compress_level?: number | string | null | undefined
    /** gzip when left out, which every compatible service reads */
    compress_format?: 'gzip' | 'zstd' | null | undefined
    /** true: store the machine as chunks, not as a pack. The push sends only chunks that the provider does not have from other machines and versions. Only services of this kind can read them, and the compression settings do not apply */
    chunked?: boolean | null | undefined
    /** true: a running machine is suspended while its files are read, and then resumed. Copies start with the disks as after a power failure. Needs the claim UPDATE_VM_STATES too */
    suspend?: boolean | null | undefined
    /** UUID or name of a snapshot of the machine, or `@` and a moment: what its disks and its hardware were then is pushed, without memory. The machine may run. Needs the right to list its snapshots too */
    snapshot?: string | null | undefined
    /** false: an existing manifest is not replaced */
    override_existing?: boolean | null | undefined
    /** Only from a control to its host: what this push replaces, and where the pack goes */
    target?: PushTargetInput | null | undefined
  }
}

/** The request of `api.catalog.pushAsync`. */
export interface CatalogPushAsyncRequest extends ChangeOptions {
  query?: {
    /** true: the transfer is cancelled when the caller goes away. Otherwise it continues as a job */
    cancel_on_disconnect?: boolean | undefined
  } | undefined
  body: {
    /** Catalog id, case-insensitive */
    catalog_id: string
    /** Version, such as 1.0.2-beta */
    version: string
    /** The architecture of this host when left out */
    architecture?: '' | 'x86_64' | 'arm64' | null | undefined
    /** Connection string of the storage provider: provider=…;… */
    connection: string
    /** Folder of a machine of this host, or of a pvm or macvm bundle */
    local_path?: string | null | undefined
    /** Id or name of a machine of this host, in place of local_path */
    uuid?: string | null | undefined
    /** Text for people */
    description?: string | null | undefined
    /** Minimum resources that the machine needs */
    minimum_requirements?: MinimumSpecRequirementInput | null | undefined
    /** Claims; a user needs one of them to see the manifest */
    required_claims?: readonly string[] | null | undefined
    /** Roles; a user needs one of them to see the manifest */
    required_roles?: readonly string[] | null | undefined
    /** Tags; latest marks the newest version */
    tags?: readonly string[] | null | undefined
    /** The same as compress */
    compress_pack?: boolean | null | undefined
    /** false: do not compress the pack */
    compress?: boolean | null | undefined
    /** The same as compress_level */
    compress_pack_level?: number | string | null | undefined
    /** Compression level 0–9, or best_speed, balanced, best_compression, no_compression */
    compress_level?: number | string | null | undefined
    /** gzip when left out, which every compatible service reads */
    compress_format?: 'gzip' | 'zstd' | null | undefined
    /** true: store the machine as chunks, not as a pack. The push sends only chunks that the provider does not have from other machines and versions. Only services of this kind can read them, and the compression settings do not apply */
    chunked?: boolean | null | undefined
    /** true: a running machine is suspended while its files are read, and then resumed. Copies start with the disks as after a power failure. Needs the claim UPDATE_VM_STATES too */
    suspend?: boolean | null | undefined
    /** UUID or name of a snapshot of the machine, or `@` and a moment: what its disks and its hardware were then is pushed, without memory. The machine may run. Needs the right to list its snapshots too */
    snapshot?: string | null | undefined
    /** false: an existing manifest is not replaced */
    override_existing?: boolean | null | undefined
    /** Only from a control to its host: what this push replaces, and where the pack goes */
    target?: PushTargetInput | null | undefined
  }
}

/** The request of `api.catalog.register`. */
export interface CatalogRegisterRequest extends ChangeOptions {
  body: {
    /** Id of the new manifest, as in its description on the provider; generated when left out or in use */
    id?: string | null | undefined
    /** Catalog id, case-insensitive */
    catalog_id: string
    /** Version, such as 1.0.2-beta */
    version?: string | null | undefined
    /** x86_64 or arm64; other names of these are accepted */
    architecture: 'x86_64' | 'arm64'
    /** Type of the machine */
    type?: '' | 'pvm' | 'macvm' | 'qemu' | 'embedded' | null | undefined
    /** Text for people */
    description?: string | null | undefined
    /** Storage provider of its objects */
    provider?: {
      /** Kind of provider */
      type?: string | null | undefined
      /** Settings of the provider */
      meta?: Record<string, string | null> | null | undefined
      [name: string]: unknown
    } | null | undefined
    /** Tags; latest marks the newest version */
    tags?: readonly string[] | null | undefined
    /** Claims; a user needs one of them to see the manifest */
    required_claims?: readonly string[] | null | undefined
    /** Roles; a user needs one of them to see the manifest */
    required_roles?: readonly string[] | null | undefined
    /** Minimum resources that the machine needs */
    minimum_requirements?: MinimumSpecRequirementInput | null | undefined
    /** Whether the pack is compressed */
    is_compressed?: boolean | null | undefined
    /** Size of the machine in bytes */
    size?: number | null | undefined
    /** Size of the pack in bytes */
    pack_size?: number | null | undefined
    /** SHA-256 of the pack */
    pack_sha256?: string | null | undefined
    /** Folder on the provider */
    path?: string | null | undefined
    /** Object name of the pack on the provider; the same as pack_filename */
    pack_path?: string | null | undefined
    /** Object name of the pack on the provider */
    pack_filename?: string | null | undefined
    /** Object name of the description on the provider; the same as metadata_filename */
    metadata_path?: string | null | undefined
    /** Object name of the description on the provider */
    metadata_filename?: string | null | undefined
    /** Path of the machine in the pack */
    pack_relative_path?: string | null | undefined
    /** Contents of the pack */
    pack_contents?: readonly CatalogContentItemInput[] | null | undefined
    /** Files of the machine */
    virtual_machine_contents?: readonly CatalogContentItemInput[] | null | undefined
  }
}

/** The request of `api.catalog.removeClaims`. */
export interface CatalogRemoveClaimsRequest extends ChangeOptions, IfMatchOptions {
  params: {
    /** Catalog ID */
    catalogId: string
    /** Version, such as 1.0.2-beta */
    version: string
    /** x86_64 or arm64 */
    architecture: string
  }
  body: {
    /** Claims; a user needs one of them to see the manifest */
    required_claims?: readonly string[] | null | undefined
    /** Roles; a user needs one of them to see the manifest */
    required_roles?: readonly string[] | null | undefined
    /** Tags; latest marks the newest version */
    tags?: readonly string[] | null | undefined
  }
}

/** The request of `api.catalog.removeRoles`. */
export interface CatalogRemoveRolesRequest extends ChangeOptions, IfMatchOptions {
  params: {
    /** Catalog ID */
    catalogId: string
    /** Version, such as 1.0.2-beta */
    version: string
    /** x86_64 or arm64 */
    architecture: string
  }
  body: {
    /** Claims; a user needs one of them to see the manifest */
    required_claims?: readonly string[] | null | undefined
    /** Roles; a user needs one of them to see the manifest */
    required_roles?: readonly string[] | null | undefined
    /** Tags; latest marks the newest version */
    tags?: readonly string[] | null | undefined
  }
}

/** The request of `api.catalog.removeTags`. */
export interface CatalogRemoveTagsRequest extends ChangeOptions, IfMatchOptions {
  params: {
    /** Catalog ID */
    catalogId: string
    /** Version, such as 1.0.2-beta */
    version: string
    /** x86_64 or arm64 */
    architecture: string
  }
  body: {
    /** Claims; a user needs one of them to see the manifest */
    required_claims?: readonly string[] | null | undefined
    /** Roles; a user needs one of them to see the manifest */
    required_roles?: readonly string[] | null | undefined
    /** Tags; latest marks the newest version */
    tags?: readonly string[] | null | undefined
  }
}

/** The request of `api.catalog.revoke`. */
export interface CatalogRevokeRequest extends ChangeOptions, IfMatchOptions {
  params: {
    /** Catalog ID */
    catalogId: string
    /** Version, such as 1.0.2-beta */
    version: string
    /** x86_64 or arm64 */
    architecture: string
  }
}

/** The request of `api.catalog.show`. */
export interface CatalogShowRequest extends CallOptions {
  params: {
    /** Catalog ID */
    catalogId: string
    /** Version, such as 1.0.2-beta */
    version?: string | undefined
    /** x86_64 or arm64 */
    architecture?: string | undefined
  }
}

/** The request of `api.catalog.taint`. */
export interface CatalogTaintRequest extends ChangeOptions, IfMatchOptions {
  params: {
    /** Catalog ID */
    catalogId: string
    /** Version, such as 1.0.2-beta */
    version: string
    /** x86_64 or arm64 */
    architecture: string
  }
}

/** The request of `api.catalog.untaint`. */
export interface CatalogUntaintRequest extends ChangeOptions, IfMatchOptions {
  params: {
    /** Catalog ID */
    catalogId: string
    /** Version, such as 1.0.2-beta */
    version: string
    /** x86_64 or arm64 */
    architecture: string
  }
}

/** The request of `api.catalogCache.clear`. */
export interface CatalogCacheClearRequest extends ChangeOptions {
}

/** The request of `api.catalogCache.delete`. */
export interface CatalogCacheDeleteRequest extends ChangeOptions {
  params: {
    /** Catalog id */
    catalogId: string
    /** Version, such as 1.0.2-beta */
    version?: string | undefined
  }
}

/** The request of `api.catalogCache.list`. */
export interface CatalogCacheListRequest extends CallOptions, FilterOptions {
}

/** The request of `api.catalogManagers.catalogAddClaims`. */
export interface CatalogManagersCatalogAddClaimsRequest extends ChangeOptions {
  params: {
    /** UUID of the catalog manager */
    id: string
    /** Catalog ID */
    catalogId: string
    /** Version, such as 1.0.2-beta */
    version: string
    /** x86_64 or arm64 */
    architecture: string
  }
  body: {
    /** Claims; a user needs one of them to see the manifest */
    required_claims?: readonly string[] | null | undefined
    /** Roles; a user needs one of them to see the manifest */
    required_roles?: readonly string[] | null | undefined
    /** Tags; latest marks the newest version */
    tags?: readonly string[] | null | undefined
  }
}

/** The request of `api.catalogManagers.catalogAddRoles`. */
export interface CatalogManagersCatalogAddRolesRequest extends ChangeOptions {
  params: {
    /** UUID of the catalog manager */
    id: string
    /** Catalog ID */
    catalogId: string
    /** Version, such as 1.0.2-beta */
    version: string
    /** x86_64 or arm64 */
    architecture: string
  }
  body: {
    /** Claims; a user needs one of them to see the manifest */
    required_claims?: readonly string[] | null | undefined
    /** Roles; a user needs one of them to see the manifest */
    required_roles?: readonly string[] | null | undefined
    /** Tags; latest marks the newest version */
    tags?: readonly string[] | null | undefined
  }
}

/** The request of `api.catalogManagers.catalogAddTags`. */
export interface CatalogManagersCatalogAddTagsRequest extends ChangeOptions {
  params: {
    /** UUID of the catalog manager */
    id: string
    /** Catalog ID */
    catalogId: string
    /** Version, such as 1.0.2-beta */
    version: string
    /** x86_64 or arm64 */
    architecture: string
  }
  body: {
    /** Claims; a user needs one of them to see the manifest */
    required_claims?: readonly string[] | null | undefined
    /** Roles; a user needs one of them to see the manifest */
    required_roles?: readonly string[] | null | undefined
    /** Tags; latest marks the newest version */
    tags?: readonly string[] | null | undefined
  }
}

/** The request of `api.catalogManagers.catalogConnect`. */
export interface CatalogManagersCatalogConnectRequest extends ChangeOptions {
  params: {
    /** UUID of the catalog manager */
    id: string
    /** Catalog ID */
    catalogId: string
    /** Version, such as 1.0.2-beta */
    version: string
    /** x86_64 or arm64 */
    architecture: string
  }
  body: {
    /** Connection string of the storage provider: provider=…;… */
    connection: string
  }
}

/** The request of `api.catalogManagers.catalogDelete`. */
export interface CatalogManagersCatalogDeleteRequest extends ChangeOptions {
  params: {
    /** UUID of the catalog manager */
    id: string
    /** Catalog ID */
    catalogId: string
    /** Version, such as 1.0.2-beta */
    version?: string | undefined
    /** x86_64 or arm64 */
    architecture?: string | undefined
  }
  query?: {
    /** false leaves the objects on the provider */
    clean_remote?: boolean | undefined
  } | undefined
}

/** The request of `api.catalogManagers.catalogDescribe`. */
export interface CatalogManagersCatalogDescribeRequest extends ChangeOptions {
  params: {
    /** UUID of the catalog manager */
    id: string
    /** Catalog ID */
    catalogId: string
    /** Version, such as 1.0.2-beta */
    version: string
    /** x86_64 or arm64 */
    architecture: string
  }
  body: {
    /** Text for people */
    description?: string | null | undefined
    /** Claims; a user needs one of them to see the manifest */
    required_claims?: readonly string[] | null | undefined
    /** Roles; a user needs one of them to see the manifest */
    required_roles?: readonly string[] | null | undefined
    /** Tags; latest marks the newest version */
    tags?: readonly string[] | null | undefined
  }
}

/** The request of `api.catalogManagers.catalogDownload`. */
export interface CatalogManagersCatalogDownloadRequest extends CallOptions {
  params: {
    /** UUID of the catalog manager */
    id: string
    /** Catalog ID */
    catalogId: string
    /** Version, such as 1.0.2-beta */
    version: string
    /** x86_64 or arm64 */
    architecture: string
  }
  query?: {
    /** Which bytes to send; without it the reply is the manifest */
    content?: 'pack' | 'metadata' | 'pieces' | 'chunk' | undefined
    /** With content=chunk: the chunk */
    sha256?: string | undefined
    /** Id of the job that downloads; all requests of a job count as one download */
    job?: string | undefined
  } | undefined
}

/** The request of `api.catalogManagers.catalogImport`. */
export interface CatalogManagersCatalogImportRequest extends ChangeOptions {
  params: {
    /** UUID of the catalog manager */
    id: string
  }
  body: {
    /** Catalog id, case-insensitive */
    catalog_id: string
    /** Version, such as 1.0.2-beta */
    version: string
    /** x86_64 or arm64; other names of these are accepted */
    architecture: 'x86_64' | 'arm64'
    /** Connection string of the storage provider: provider=…;… */
    connection: string
    /** Further settings of the provider */
    provider_metadata?: Record<string, string | null> | null | undefined
  }
}

/** The request of `api.catalogManagers.catalogImportVm`. */
export interface CatalogManagersCatalogImportVmRequest extends ChangeOptions {
  params: {
    /** UUID of the catalog manager */
    id: string
  }
  body: {
    /** Catalog id, case-insensitive */
    catalog_id: string
    /** Version, such as 1.0.2-beta */
    version: string
    /** x86_64 or arm64; other names of these are accepted */
    architecture: 'x86_64' | 'arm64'
    /** Connection string of the storage provider: provider=…;… */
    connection: string
    /** Further settings of the provider */
    provider_metadata?: Record<string, string | null> | null | undefined
    /** Path of the machine on the provider */
    machine_remote_path: string
    /** Type of the value */
    type?: '' | 'pvm' | 'macvm' | 'qemu' | 'embedded' | null | undefined
    /** Size of the machine in bytes */
    size: number
    /** Whether the pack is compressed */
    is_compressed?: boolean | null | undefined
    /** Only the value true counts: do not wait for the guest */
    force?: boolean | null | undefined
    /** Text for people */
    description?: string | null | undefined
    /** Claims; a user needs one of them to see the manifest */
    required_claims?: readonly string[] | null | undefined
    /** Roles; a user needs one of them to see the manifest */
    required_roles?: readonly string[] | null | undefined
    /** Tags; latest marks the newest version */
    tags?: readonly string[] | null | undefined
  }
}

/** The request of `api.catalogManagers.catalogList`. */
export interface CatalogManagersCatalogListRequest extends CallOptions, FilterOptions {
  params: {
    /** UUID of the catalog manager */
    id: string
  }
  query?: {
    /** Manifests on a page; all when left out */
    limit?: number | undefined
    /** From the Link of the previous page */
    cursor?: string | undefined
  } | undefined
}

/** The request of `api.catalogManagers.catalogPull`. */
export interface CatalogManagersCatalogPullRequest extends ChangeOptions {
  params: {
    /** UUID of the catalog manager */
    id: string
  }
  query?: {
    /** true: the transfer is cancelled when the caller goes away. Otherwise it continues as a job */
    cancel_on_disconnect?: boolean | undefined
  } | undefined
  body: {
    /** Catalog id, case-insensitive */
    catalog_id: string
    /** Version, such as 1.0.2-beta */
    version?: string | null | undefined
    /** The architecture of this host when left out */
    architecture?: '' | 'x86_64' | 'arm64' | null | undefined
    /** host=… of another catalog. This catalog when left out */
    connection?: string | null | undefined
    /** Name of the machine on this host */
    machine_name: string
    /** Further settings of the provider */
    provider_metadata?: Record<string, string | null> | null | undefined
    /** true: start the machine after the pull */
    start_after_pull?: boolean | null | undefined
    /** Only from a control to its host: where the pack of this pull is */
    source?: PullSourceInput | null | undefined
  }
}

/** The request of `api.catalogManagers.catalogPullAsync`. */
export interface CatalogManagersCatalogPullAsyncRequest extends ChangeOptions {
  params: {
    /** UUID of the catalog manager */
    id: string
  }
  query?: {
    /** true: the transfer is cancelled when the caller goes away. Otherwise it continues as a job */
    cancel_on_disconnect?: boolean | undefined
  } | undefined
  body: {
    /** Catalog id, case-insensitive */
    catalog_id: string
    /** Version, such as 1.0.2-beta */
    version?: string | null | undefined
    /** The architecture of this host when left out */
    architecture?: '' | 'x86_64' | 'arm64' | null | undefined
    /** host=… of another catalog. This catalog when left out */
    connection?: string | null | undefined
    /** Name of the machine on this host */
    machine_name: string
    /** Further settings of the provider */
    provider_metadata?: Record<string, string | null> | null | undefined
    /** true: start the machine after the pull */
    start_after_pull?: boolean | null | undefined
    /** Only from a control to its host: where the pack of this pull is */
    source?: PullSourceInput | null | undefined
  }
}

/** The request of `api.catalogManagers.catalogPush`. */
export interface CatalogManagersCatalogPushRequest extends ChangeOptions {
  params: {
    /** UUID of the catalog manager */
    id: string
  }
  query?: {
    /** true: the transfer is cancelled when the caller goes away. Otherwise it continues as a job */
    cancel_on_disconnect?: boolean | undefined
  } | undefined
  body: {
    /** Catalog id, case-insensitive */
    catalog_id: string
    /** Version, such as 1.0.2-beta */
    version: string
    /** The architecture of this host when left out */
    architecture?: '' | 'x86_64' | 'arm64' | null | undefined
    /** Connection string of the storage provider: provider=…;… */
    connection: string
    /** Folder of a machine of this host, or of a pvm or macvm bundle */
    local_path?: string | null | undefined
    /** Id or name of a machine of this host, in place of local_path */
    uuid?: string | null | undefined
    /** Text for people */
    description?: string | null | undefined
    /** Minimum resources that the machine needs */
    minimum_requirements?: MinimumSpecRequirementInput | null | undefined
    /** Claims; a user needs one of them to see the manifest */
    required_claims?: readonly string[] | null | undefined
    /** Roles; a user needs one of them to see the manifest */
    required_roles?: readonly string[] | null | undefined
    /** Tags; latest marks the newest version */
    tags?: readonly string[] | null | undefined
    /** The same as compress */
    compress_pack?: boolean | null | undefined
    /** false: do not compress the pack */
    compress?: boolean | null | undefined
    /** The same as compress_level */
    compress_pack_level?: number | string | null | undefined
    /** Compression level 0–9, or best_speed, balanced, best_compression, no_compression */
    compress_level?: number | string | null | undefined
    /** gzip when left out, which every compatible service reads */
    compress_format?: 'gzip' | 'zstd' | null | undefined
    /** true: store the machine as chunks, not as a pack. The push sends only chunks that the provider does not have from other machines and versions. Only services of this kind can read them, and the compression settings do not apply */
    chunked?: boolean | null | undefined
    /** true: a running machine is suspended while its files are read, and then resumed. Copies start with the disks as after a power failure. Needs the claim UPDATE_VM_STATES too */
    suspend?: boolean | null | undefined
    /** UUID or name of a snapshot of the machine, or `@` and a moment: what its disks and its hardware were then is pushed, without memory. The machine may run. Needs the right to list its snapshots too */
    snapshot?: string | null | undefined
    /** false: an existing manifest is not replaced */
    override_existing?: boolean | null | undefined
    /** Only from a control to its host: what this push replaces, and where the pack goes */
    target?: PushTargetInput | null | undefined
  }
}

/** The request of `api.catalogManagers.catalogPushAsync`. */
export interface CatalogManagersCatalogPushAsyncRequest extends ChangeOptions {
  params: {
    /** UUID of the catalog manager */
    id: string
  }
  query?: {
    /** true: the transfer is cancelled when the caller goes away. Otherwise it continues as a job */
    cancel_on_disconnect?: boolean | undefined
  } | undefined
  body: {
    /** Catalog id, case-insensitive */
    catalog_id: string
    /** Version, such as 1.0.2-beta */
    version: string
    /** The architecture of this host when left out */
    architecture?: '' | 'x86_64' | 'arm64' | null | undefined
    /** Connection string of the storage provider: provider=…;… */
    connection: string
    /** Folder of a machine of this host, or of a pvm or macvm bundle */
    local_path?: string | null | undefined
    /** Id or name of a machine of this host, in place of local_path */
    uuid?: string | null | undefined
    /** Text for people */
    description?: string | null | undefined
    /** Minimum resources that the machine needs */
    minimum_requirements?: MinimumSpecRequirementInput | null | undefined
    /** Claims; a user needs one of them to see the manifest */
    required_claims?: readonly string[] | null | undefined
    /** Roles; a user needs one of them to see the manifest */
    required_roles?: readonly string[] | null | undefined
    /** Tags; latest marks the newest version */
    tags?: readonly string[] | null | undefined
    /** The same as compress */
    compress_pack?: boolean | null | undefined
    /** false: do not compress the pack */
    compress?: boolean | null | undefined
    /** The same as compress_level */
    compress_pack_level?: number | string | null | undefined
    /** Compression level 0–9, or best_speed, balanced, best_compression, no_compression */
    compress_level?: number | string | null | undefined
    /** gzip when left out, which every compatible service reads */
    compress_format?: 'gzip' | 'zstd' | null | undefined
    /** true: store the machine as chunks, not as a pack. The push sends only chunks that the provider does not have from other machines and versions. Only services of this kind can read them, and the compression settings do not apply */
    chunked?: boolean | null | undefined
    /** true: a running machine is suspended while its files are read, and then resumed. Copies start with the disks as after a power failure. Needs the claim UPDATE_VM_STATES too */
    suspend?: boolean | null | undefined
    /** UUID or name of a snapshot of the machine, or `@` and a moment: what its disks and its hardware were then is pushed, without memory. The machine may run. Needs the right to list its snapshots too */
    snapshot?: string | null | undefined
    /** false: an existing manifest is not replaced */
    override_existing?: boolean | null | undefined
    /** Only from a control to its host: what this push replaces, and where the pack goes */
    target?: PushTargetInput | null | undefined
  }
}

/** The request of `api.catalogManagers.catalogRegister`. */
export interface CatalogManagersCatalogRegisterRequest extends ChangeOptions {
  params: {
    /** UUID of the catalog manager */
    id: string
  }
  body: {
    /** Id of the new manifest, as in its description on the provider; generated when left out or in use */
    id?: string | null | undefined
    /** Catalog id, case-insensitive */
    catalog_id: string
    /** Version, such as 1.0.2-beta */
    version?: string | null | undefined
    /** x86_64 or arm64; other names of these are accepted */
    architecture: 'x86_64' | 'arm64'
    /** Type of the value */
    type?: '' | 'pvm' | 'macvm' | 'qemu' | 'embedded' | null | undefined
    /** Text for people */
    description?: string | null | undefined
    /** Storage provider of its objects */
    provider?: {
      /** Kind of provider */
      type?: string | null | undefined
      /** Settings of the provider */
      meta?: Record<string, string | null> | null | undefined
      [name: string]: unknown
    } | null | undefined
    /** Tags; latest marks the newest version */
    tags?: readonly string[] | null | undefined
    /** Claims; a user needs one of them to see the manifest */
    required_claims?: readonly string[] | null | undefined
    /** Roles; a user needs one of them to see the manifest */
    required_roles?: readonly string[] | null | undefined
    /** Minimum resources that the machine needs */
    minimum_requirements?: MinimumSpecRequirementInput | null | undefined
    /** Whether the pack is compressed */
    is_compressed?: boolean | null | undefined
    /** Size of the machine in bytes */
    size?: number | null | undefined
    /** Size of the pack in bytes */
    pack_size?: number | null | undefined
    /** SHA-256 of the pack */
    pack_sha256?: string | null | undefined
    /** Folder on the provider */
    path?: string | null | undefined
    /** Object name of the pack on the provider; the same as pack_filename */
    pack_path?: string | null | undefined
    /** Object name of the pack on the provider */
    pack_filename?: string | null | undefined
    /** Object name of the description on the provider; the same as metadata_filename */
    metadata_path?: string | null | undefined
    /** Object name of the description on the provider */
    metadata_filename?: string | null | undefined
    /** Path of the machine in the pack */
    pack_relative_path?: string | null | undefined
    /** Contents of the pack */
    pack_contents?: readonly CatalogContentItemInput[] | null | undefined
    /** Files of the machine */
    virtual_machine_contents?: readonly CatalogContentItemInput[] | null | undefined
  }
}

/** The request of `api.catalogManagers.catalogRemoveClaims`. */
export interface CatalogManagersCatalogRemoveClaimsRequest extends ChangeOptions {
  params: {
    /** UUID of the catalog manager */
    id: string
    /** Catalog ID */
    catalogId: string
    /** Version, such as 1.0.2-beta */
    version: string
    /** x86_64 or arm64 */
    architecture: string
  }
  body: {
    /** Claims; a user needs one of them to see the manifest */
    required_claims?: readonly string[] | null | undefined
    /** Roles; a user needs one of them to see the manifest */
    required_roles?: readonly string[] | null | undefined
    /** Tags; latest marks the newest version */
    tags?: readonly string[] | null | undefined
  }
}

/** The request of `api.catalogManagers.catalogRemoveRoles`. */
export interface CatalogManagersCatalogRemoveRolesRequest extends ChangeOptions {
  params: {
    /** UUID of the catalog manager */
    id: string
    /** Catalog ID */
    catalogId: string
    /** Version, such as 1.0.2-beta */
    version: string
    /** x86_64 or arm64 */
    architecture: string
  }
  body: {
    /** Claims; a user needs one of them to see the manifest */
    required_claims?: readonly string[] | null | undefined
    /** Roles; a user needs one of them to see the manifest */
    required_roles?: readonly string[] | null | undefined
    /** Tags; latest marks the newest version */
    tags?: readonly string[] | null | undefined
  }
}

/** The request of `api.catalogManagers.catalogRemoveTags`. */
export interface CatalogManagersCatalogRemoveTagsRequest extends ChangeOptions {
  params: {
    /** UUID of the catalog manager */
    id: string
    /** Catalog ID */
    catalogId: string
    /** Version, such as 1.0.2-beta */
    version: string
    /** x86_64 or arm64 */
    architecture: string
  }
  body: {
    /** Claims; a user needs one of them to see the manifest */
    required_claims?: readonly string[] | null | undefined
    /** Roles; a user needs one of them to see the manifest */
    required_roles?: readonly string[] | null | undefined
    /** Tags; latest marks the newest version */
    tags?: readonly string[] | null | undefined
  }
}

/** The request of `api.catalogManagers.catalogRevoke`. */
export interface CatalogManagersCatalogRevokeRequest extends ChangeOptions {
  params: {
    /** UUID of the catalog manager */
    id: string
    /** Catalog ID */
    catalogId: string
    /** Version, such as 1.0.2-beta */
    version: string
    /** x86_64 or arm64 */
    architecture: string
  }
}

/** The request of `api.catalogManagers.catalogShow`. */
export interface CatalogManagersCatalogShowRequest extends CallOptions {
  params: {
    /** UUID of the catalog manager */
    id: string
    /** Catalog ID */
    catalogId: string
    /** Version, such as 1.0.2-beta */
    version?: string | undefined
    /** x86_64 or arm64 */
    architecture?: string | undefined
  }
}

/** The request of `api.catalogManagers.catalogTaint`. */
export interface CatalogManagersCatalogTaintRequest extends ChangeOptions {
  params: {
    /** UUID of the catalog manager */
    id: string
    /** Catalog ID */
    catalogId: string
    /** Version, such as 1.0.2-beta */
    version: string
    /** x86_64 or arm64 */
    architecture: string
  }
}

/** The request of `api.catalogManagers.catalogUntaint`. */
export interface CatalogManagersCatalogUntaintRequest extends ChangeOptions {
  params: {
    /** UUID of the catalog manager */
    id: string
    /** Catalog ID */
    catalogId: string
    /** Version, such as 1.0.2-beta */
    version: string
    /** x86_64 or arm64 */
    architecture: string
  }
}

/** The request of `api.catalogManagers.create`. */
export interface CatalogManagersCreateRequest extends ChangeOptions {
  body: {
    /** Part of the installation: only super users change it */
    internal?: boolean | null | undefined
    /** false: the service does not use it */
    active?: boolean | null | undefined
    /** credentials or api_key */
    authentication_method?: string | null | undefined
    /** User name at the remote service */
    username?: string | null | undefined
    /** Password at the remote service; the service stores it encrypted and never shows it */
    password?: string | null | undefined
    /** Left out, empty or ********: the stored value stays */
    api_key?: string | null | undefined
    /** For everybody who holds the required claims */
    global?: boolean | null | undefined
    /** Of a global manager: users must hold all of them */
    required_claims?: readonly string[] | null | undefined
    /** Name that people read */
    name: string
    /** Address of the remote service */
    url: string
  }
}

/** The request of `api.catalogManagers.delete`. */
export interface CatalogManagersDeleteRequest extends ChangeOptions {
  params: {
    /** UUID of the catalog manager */
    id: string
  }
}

/** The request of `api.catalogManagers.list`. */
export interface CatalogManagersListRequest extends CallOptions, FilterOptions {
}

/** The request of `api.catalogManagers.show`. */
export interface CatalogManagersShowRequest extends CallOptions {
  params: {
    /** UUID of the catalog manager */
    id: string
  }
}

/** The request of `api.catalogManagers.update`. */
export interface CatalogManagersUpdateRequest extends ChangeOptions {
  params: {
    /** UUID of the catalog manager */
    id: string
  }
  body: {
    /** Part of the installation: only super users change it */
    internal?: boolean | null | undefined
    /** false: the service does not use it */
    active?: boolean | null | undefined
    /** credentials or api_key */
    authentication_method?: string | null | undefined
    /** User name at the remote service */
    username?: string | null | undefined
    /** Password at the remote service; the service stores it encrypted and never shows it */
    password?: string | null | undefined
    /** Left out, empty or ********: the stored value stays */
    api_key?: string | null | undefined
    /** For everybody who holds the required claims */
    global?: boolean | null | undefined
    /** Of a global manager: users must hold all of them */
    required_claims?: readonly string[] | null | undefined
    /** Name that people read */
    name?: string | null | undefined
    /** Address of the remote service */
    url?: string | null | undefined
  }
}

/** The request of `api.claims.create`. */
export interface ClaimsCreateRequest extends ChangeOptions {
  body: {
    /** Name of the claim */
    name: string
    /** Text for people */
    description?: string | null | undefined
  }
}

/** The request of `api.claims.delete`. */
export interface ClaimsDeleteRequest extends ChangeOptions {
  params: {
    /** Name of the claim, in any case */
    id: string
  }
}

/** The request of `api.claims.list`. */
export interface ClaimsListRequest extends CallOptions, FilterOptions {
}

/** The request of `api.claims.listGrouped`. */
export interface ClaimsListGroupedRequest extends CallOptions {
}

/** The request of `api.claims.show`. */
export interface ClaimsShowRequest extends CallOptions {
  params: {
    /** Name of the claim, in any case */
    id: string
  }
}

/** The request of `api.events.clients`. */
export interface EventsClientsRequest extends CallOptions {
}

/** The request of `api.events.list`. */
export interface EventsListRequest extends CallOptions {
  query?: {
    /** Cursor: events after it; from the oldest stored event when left out */
    since?: string | undefined
    /** Types of events, separated by commas; all of them when left out */
    types?: string | undefined
    /** Maximum number of items on a page */
    limit?: number | undefined
  } | undefined
}

/** The request of `api.events.stats`. */
export interface EventsStatsRequest extends CallOptions {
}

/** The request of `api.events.stream`. */
export interface EventsStreamRequest extends CallOptions {
  query?: {
    /** Cursor: only events after it; only new events when left out */
    since?: string | undefined
    /** Types of events, separated by commas: global, pdfm, system, system_logs, health, orchestrator, stats, reverse_proxy, catalog_cache, job_manager, auth */
    types?: string | undefined
    /** Types of events, separated by commas: global, pdfm, system, system_logs, health, orchestrator, stats, reverse_proxy, catalog_cache, job_manager, auth */
    event_types?: string | undefined
  } | undefined
}

/** The request of `api.events.subscribe`. */
export interface EventsSubscribeRequest extends CallOptions {
  query?: {
    /** Cursor: only events after it; only new events when left out */
    since?: string | undefined
    /** Types of events, separated by commas: global, pdfm, system, system_logs, health, orchestrator, stats, reverse_proxy, catalog_cache, job_manager, auth */
    event_types?: string | undefined
  } | undefined
}

/** The request of `api.events.unsubscribe`. */
export interface EventsUnsubscribeRequest extends ChangeOptions {
  body: {
    /** Id of the WebSocket, from its first message */
    client_id: string
    /** Types of events */
    event_types: readonly string[]
  }
}

/** The request of `api.health.probe`. */
export interface HealthProbeRequest extends CallOptions {
}

/** The request of `api.health.system`. */
export interface HealthSystemRequest extends CallOptions {
}

/** The request of `api.hosts.create`. */
export interface HostsCreateRequest extends ChangeOptions {
  body: {
    /** Unique name of the host */
    name: string
    /** Address under which the service reaches the host */
    url: string
    /** Names with values. A request can ask for a host with some of them: host_labels=zone=a */
    labels?: Record<string, string | null> | null | undefined
  }
}

/** The request of `api.hosts.delete`. */
export interface HostsDeleteRequest extends ChangeOptions {
  params: {
    /** UUID or name of the host, in any case */
    id: string
  }
}

/** The request of `api.hosts.drain`. */
export interface HostsDrainRequest extends ChangeOptions {
  params: {
    /** UUID or name of the host, in any case */
    id: string
  }
}

/** The request of `api.hosts.heartbeat`. */
export interface HostsHeartbeatRequest extends CallOptions {
  params: {
    /** UUID or name of the host, in any case */
    id: string
  }
  body: {
    /** Version of the service on the host */
    version: string
    /** The driver of its machines: qemu or embedded */
    driver: string
    /** x86_64 or arm64 */
    architecture: string
    /** What the host has for machines */
    capacity: {
      /** CPUs of the host */
      cpus: number
      /** Memory of the host in MB */
      memory: number
      /** Memory in MB that nobody uses */
      free_memory: number
      /** Space in MB on the disk of its machines; left out by an earlier version of the service */
      free_disk?: number | null | undefined
    }
    /** Names this run of the host in assertions that are for it */
    nonce?: string | null | undefined
    /** Ids of the assertions under which WebSockets to its machines are open */
    connections?: readonly string[] | null | undefined
    /** Left out when the machines are as the service knows them */
    machines?: {
      /** Names this state of the machines */
      tag: string
      /** All machines of the host */
      ids: readonly string[]
      /** Machines that the service does not know like this */
      changed: readonly {
        /** UUID of the machine */
        ID: string
        /** Name of the machine */
        Name: string
        [name: string]: unknown
      }[]
    } | undefined
    /** Left out when there are no new events */
    events?: {
      /** Position in the event log of the host */
      after: string
      /** The cursor that the service has, if the host has no events after it any more */
      replaces?: string | null | undefined
      /** Position after these events */
      next: string
      /** The events between after and next */
      entries: readonly {
        /** UUID, given by the service */
        id: string
        /** Type of the event: its subject */
        event_type: 'pdfm' | 'catalog_cache'
        /** Time of the event (RFC 3339) */
        timestamp: string
        /** What the service did, for people */
        message: string
        /** Details; they depend on the kind of event */
        body?: Record<string, unknown> | null | undefined
      }[]
    } | undefined
  }
}

/** The request of `api.hosts.list`. */
export interface HostsListRequest extends CallOptions, FilterOptions {
}

/** The request of `api.hosts.pack`. */
export interface HostsPackRequest extends CallOptions {
  params: {
    /** UUID or name of the host, in any case */
    id: string
    /** The job of this service under which the host pulls the pack */
    job: string
  }
  query: {
    /** The pack, its sidecar, or a chunk of it */
    content: 'pack' | 'pieces' | 'chunk'
    /** With content=chunk: the chunk */
    sha256?: string | undefined
  }
}

/** The request of `api.hosts.show`. */
export interface HostsShowRequest extends CallOptions {
  params: {
    /** UUID or name of the host, in any case */
    id: string
  }
}

/** The request of `api.hosts.undrain`. */
export interface HostsUndrainRequest extends ChangeOptions {
  params: {
    /** UUID or name of the host, in any case */
    id: string
  }
}

/** The request of `api.hosts.update`. */
export interface HostsUpdateRequest extends ChangeOptions {
  params: {
    /** UUID or name of the host, in any case */
    id: string
  }
  body: {
    /** Address under which the service reaches the host */
    url?: string | null | undefined
    /** Names with values. A request can ask for a host with some of them: host_labels=zone=a */
    labels?: Record<string, string | null> | null | undefined
  }
}

/** The request of `api.images.create`. */
export interface ImagesCreateRequest extends ChangeOptions {
  body: {
    /** Name that people read */
    name: string
    /** Where the service fetches the file */
    url?: string | null | undefined
    /** true: the file is what was uploaded under this name; sha256 must be its digest */
    upload?: true | null | undefined
    /** The SHA-256 that the file must have */
    sha256?: string | null | undefined
    /** Address of a SHA256SUMS file, which names the last part of url */
    checksums_url?: string | null | undefined
    /** Text for people */
    description?: string | null | undefined
    /** The firmware that machines of this image get */
    firmware?: 'bios' | 'uefi' | null | undefined
  }
}

/** The request of `api.images.delete`. */
export interface ImagesDeleteRequest extends ChangeOptions {
  params: {
    /** Name in any case, id, or SHA-256 */
    id: string
  }
}

/** The request of `api.images.list`. */
export interface ImagesListRequest extends CallOptions, FilterOptions {
}

/** The request of `api.images.show`. */
export interface ImagesShowRequest extends CallOptions {
  params: {
    /** Name in any case, id, or SHA-256 */
    id: string
  }
}

/** The request of `api.images.showUpload`. */
export interface ImagesShowUploadRequest extends CallOptions {
  params: {
    /** Name of the image to be */
    name: string
  }
}

/** The request of `api.images.upload`. */
export interface ImagesUploadRequest extends CallOptions {
  params: {
    /** Name of the image to be */
    name: string
  }
  readonly body: ReadableStream<Uint8Array> | Blob | Uint8Array<ArrayBuffer>
}

/** The request of `api.jobs.cancel`. */
export interface JobsCancelRequest extends ChangeOptions {
  params: {
    /** UUID, given by the service */
    id: string
  }
}

/** The request of `api.jobs.cleanUp`. */
export interface JobsCleanUpRequest extends ChangeOptions {
}

/** The request of `api.jobs.delete`. */
export interface JobsDeleteRequest extends ChangeOptions {
  params: {
    /** UUID, given by the service */
    id: string
  }
}

/** The request of `api.jobs.list`. */
export interface JobsListRequest extends CallOptions, FilterOptions {
}

/** The request of `api.jobs.show`. */
export interface JobsShowRequest extends CallOptions {
  params: {
    /** UUID, given by the service */
    id: string
  }
}

/** The request of `api.license.show`. */
export interface LicenseShowRequest extends CallOptions {
}

/** The request of `api.machines.addForward`. */
export interface MachinesAddForwardRequest extends ChangeOptions, WaitOptions {
  params: {
    /** UUID or name, in any case */
    id: string
  }
  body: {
    /** tcp or udp */
    protocol?: 'tcp' | 'udp' | null | undefined
    /** Address of the host that the port is opened on; 127.0.0.1 if left out */
    host_address?: string | null | undefined
    /** The port of the host */
    host_port: number
    /** Port of the guest */
    guest_port: number
  }
}

/** The request of `api.machines.clone`. */
export interface MachinesCloneRequest extends ChangeOptions, WaitOptions {
  params: {
    /** UUID or name, in any case */
    id: string
  }
  query?: {
    /** true: the new machine shares the existing disks */
    linked?: boolean | undefined
  } | undefined
  body: {
    /** Name of the new machine */
    clone_name: string
    /** UUID or name of a snapshot of the machine, or `@` and a moment, which is cloned in place of the present machine: its disks and its hardware of then, without memory. The machine may be in any state. Needs the right to list its snapshots too */
    snapshot?: string | null | undefined
  }
}

/** The request of `api.machines.console`. */
export interface MachinesConsoleRequest extends CallOptions {
  params: {
    /** UUID or name, in any case */
    id: string
  }
  query?: {
    /** false replies with the output so far as text, and needs no WebSocket */
    follow?: 'true' | 'false' | undefined
    /** The first byte to send, counted from the first that the guest has ever written; a negative one counts from the end */
    offset?: number | undefined
    /** claim makes this the connection that writes, and is refused with 409 while there is another one; take-over takes the place of the other one */
    writer?: 'claim' | 'take-over' | undefined
    /** With follow=false: a regular expression of RE2. The reply has the lines that match, as OFFSET:LINE */
    search?: string | undefined
  } | undefined
}

/** The request of `api.machines.create`. */
export interface MachinesCreateRequest extends ChangeOptions, WaitOptions {
  query?: {
    /** Starts the new machine and waits: running, stopped, ip (it has an address), agent (its guest agent has answered), port:NUMBER (the guest accepts connections to it), serial:PATTERN (its serial output matches a regular expression of RE2) or event:TYPE (VM_STATE_CHANGED, VM_UPDATED, VM_REMOVED, VM_SNAPSHOTS_UPDATED) */
    until?: string | undefined
  } | undefined
  body: {
    /** Name of the machine, unique on the host, case-insensitive */
    name: string
    /** Name or digest of a registered image: the first disk has its content */
    image?: string | null | undefined
    /** MB of that disk, if it is to be larger than the image */
    disk_size?: number | null | undefined
    /** Text for people */
    description?: string | null | undefined
    /** Number of virtual CPUs */
    cpus?: number | null | undefined
    /** MB */
    memory: number
    /** Disks, in the order of attachment */
    disks?: readonly ({
      /** Absolute path of an existing image on the host; the machine uses it in place */
      path: string
      /** The bus of the disk; virtio when left out. Guests without drivers for virtio need ide. */
      bus?: 'virtio' | 'ide' | null | undefined
    } | {
      /** MB */
      size: number
      /** The bus of the disk; virtio when left out. Guests without drivers for virtio need ide. */
      bus?: 'virtio' | 'ide' | null | undefined
    } | {
      /** Name or digest of a registered image: the disk has its content */
      image: string
      /** Size of the machine in bytes */
      size?: number | null | undefined
      /** The bus of the disk; virtio when left out. Guests without drivers for virtio need ide. */
      bus?: 'virtio' | 'ide' | null | undefined
    })[] | null | undefined
    /** Absolute path of a kernel on the host, booted directly: Linux or multiboot on QEMU, only multiboot on the embedded driver */
    kernel?: string | null | undefined
    /** Absolute path of an initial RAM disk for the kernel */
    initrd?: string | null | undefined
    /** Command line of the kernel */
    cmdline?: string | null | undefined
    /** The mode of its only network card: isolated, nat, bridge:NAME or network:NAME; isolated if left out */
    network?: string | null | undefined
    /** Its network cards, in place of `network`; an empty list gives it none */
    networks?: readonly {
      /** isolated, nat, bridge:NAME or network:NAME */
      mode: string
      /** Model of the card: virtio or e1000 */
      card?: 'virtio' | 'e1000' | null | undefined
    }[] | null | undefined
    /** Ports of the host that lead to ports of the guest */
    forwards?: readonly {
      /** tcp or udp */
      protocol?: 'tcp' | 'udp' | null | undefined
      /** Address of the host that the port is opened on; 127.0.0.1 if left out */
      host_address?: string | null | undefined
      /** The port of the host */
      host_port: number
      /** Port of the guest */
      guest_port: number
    }[] | null | undefined
    /** Names and values that lists can select by */
    labels?: Record<string, string | null> | null | undefined
    /** true: the service deletes the machine when it has stopped, and at its own start if the machine does not run */
    ephemeral?: boolean | null | undefined
    /** Seconds after which the service deletes the machine */
    ttl?: number | null | undefined
    /** Whether the service starts the machine at its own start */
    autostart?: {
      /** True: the service starts the machine when it starts itself */
      enabled?: boolean | null | undefined
      /** Machines with a lower number start first */
      order?: number | null | undefined
      /** Seconds to wait before this machine is started */
      delay?: number | null | undefined
    } | undefined
    /** on-crash: the service starts the machine again when its hypervisor process has crashed */
    restart?: 'never' | 'on-crash' | null | undefined
    /** The board; q35 when left out, and pc for a multiboot kernel */
    machine_type?: 'pc' | 'q35' | null | undefined
    /** bios when left out */
    firmware?: 'bios' | 'uefi' | null | undefined
    /** True for a screen; none when left out */
    display?: boolean | null | undefined
    /** The number that the CPUs can grow to while the machine runs; `cpus` when left out */
    max_cpus?: number | null | undefined
    /** MB that the memory can grow to while the machine runs; `memory` when left out */
    max_memory?: number | null | undefined
    /** Device classes in the order in which the firmware tries them; disks, then CD-ROMs, when left out */
    boot_order?: readonly ('hdd' | 'cdrom' | 'net')[] | null | undefined
    /** CD-ROM drives with the ISO files in them: files of the host by path, or registered images by name or digest. A drive with neither is empty */
    cdroms?: readonly {
      /** Folder on the provider */
      path?: string | null | undefined
      /** Name or digest of a registered ISO image */
      image?: string | null | undefined
    }[] | null | undefined
    /** Folders of the host that the guest can mount by their names (9p) */
    shared_folders?: readonly {
      /** Name that people read */
      name: string
      /** Folder on the provider */
      path: string
      /** ro: the guest can only read the folder */
      mode?: 'ro' | 'rw' | null | undefined
      /** False: the machine keeps the folder, and its guest does not get it */
      enabled?: boolean | null | undefined
      /** Text for people */
      description?: string | null | undefined
    }[] | null | undefined
    /** What the machine may take of its host */
    limits?: {
      /** Percent of one CPU of the host; 150 is one and a half */
      cpu_percent?: number | null | undefined
      /** Of each disk, reads and writes together */
      disk_bytes_per_second?: number | null | undefined
      /** Of each disk, reads and writes together */
      disk_operations_per_second?: number | null | undefined
      /** Of each network card, in each direction */
      network_bytes_per_second?: number | null | undefined
    } | undefined
    /** A #cloud-config, script or other text for cloud-init. Never shown again */
    user_data?: string | null | undefined
    /** Public keys that may sign in as the default user of the guest */
    ssh_keys?: readonly string[] | null | undefined
    /** The host name of the guest; default: the name of the machine, if it can be one */
    hostname?: string | null | undefined
    /** The network configuration of cloud-init, as YAML */
    network_config?: string | null | undefined
  }
}

/** The request of `api.machines.createSnapshot`. */
export interface MachinesCreateSnapshotRequest extends ChangeOptions, WaitOptions {
  params: {
    /** UUID or name, in any case */
    id: string
  }
  body?: {
    /** Unique among the snapshots of the machine, in any case; Snapshot 1, … when left out */
    snapshot_name?: string | null | undefined
    /** Text for people */
    snapshot_description?: string | null | undefined
    /** Whether the memory of a running or paused machine is saved too. Without it the snapshot starts as after a power cut */
    memory?: boolean | null | undefined
  } | undefined
}

/** The request of `api.machines.delete`. */
export interface MachinesDeleteRequest extends ChangeOptions, WaitOptions {
  params: {
    /** UUID or name, in any case */
    id: string
  }
  query?: {
    /** Only the value true counts: do not wait for the guest */
    force?: string | undefined
  } | undefined
}

/** The request of `api.machines.deleteCloudInit`. */
export interface MachinesDeleteCloudInitRequest extends ChangeOptions, WaitOptions {
  params: {
    /** UUID or name, in any case */
    id: string
  }
}

/** The request of `api.machines.deleteSnapshot`. */
export interface MachinesDeleteSnapshotRequest extends ChangeOptions, WaitOptions {
  params: {
    /** UUID or name, in any case */
    id: string
    /** UUID or name of the snapshot, in any case. To read and to revert also `@` and a moment (`@2026-11-23T14:03:20Z`, `@14:03:20`): the newest one made until then */
    snapshot: string
  }
  body?: {
    /** true: the snapshots that were made after this one, on top of it, are deleted too */
    delete_children?: boolean | null | undefined
  } | undefined
}

/** The request of `api.machines.deleteSnapshots`. */
export interface MachinesDeleteSnapshotsRequest extends ChangeOptions, WaitOptions {
  params: {
    /** UUID or name, in any case */
    id: string
  }
}

/** The request of `api.machines.execute`. */
export interface MachinesExecuteRequest extends ChangeOptions {
  params: {
    /** UUID or name, in any case */
    id: string
  }
  body: {
    /** A line for the shell of the guest; with `args`, a program */
    command: string
    /** The arguments of the program */
    args?: readonly string[] | null | undefined
    /** Variables of its environment, beside PATH and HOME */
    environment_variables?: Record<string, string | null> | null | undefined
    /** The user of the guest who runs it; left out for the account of the agent, which is root */
    user?: string | null | undefined
    /** An absolute path of the guest; / when left out */
    working_directory?: string | null | undefined
    /** What it reads from its standard input */
    input?: string | null | undefined
    /** Seconds after which it is killed with all that it has started */
    timeout?: number | null | undefined
    /** The most bytes of each output that the reply has */
    max_output?: number | null | undefined
    /** Commands without a `user` run as root in any case */
    use_sudo?: boolean | null | undefined
    /** Only false: commands run by the guest agent */
    use_ssh?: false | null | undefined
  }
}

/** The request of `api.machines.fork`. */
export interface MachinesForkRequest extends ChangeOptions, WaitOptions {
  params: {
    /** UUID or name, in any case */
    id: string
  }
  body: {
    /** UUID or name of a snapshot of the machine, or `@` and a moment, which is forked in place of the present machine, in any state. Its forks go on with its memory; without memory they boot. Needs the right to list its snapshots too */
    snapshot?: string | null | undefined
    /** The number of forks; 1 when left out */
    count?: number | null | undefined
    /** A name for each fork. Left out, they are that of the machine with `-fork-` and a number. */
    names?: readonly string[] | null | undefined
    /** Labels of the forks, in addition to those of the machine */
    labels?: Record<string, string | null> | null | undefined
    /** true: the service deletes the machine when it has stopped, and at its own start if the machine does not run */
    ephemeral?: boolean | null | undefined
    /** Seconds after which the service deletes the forks */
    ttl?: number | null | undefined
  }
}

/** The request of `api.machines.list`. */
export interface MachinesListRequest extends CallOptions, FilterOptions {
  query?: {
    /** Only items whose labels match: name=value, name!=value, name in (a,b), name notin (a,b), name, !name, joined by commas */
    labels?: string | undefined
    /** Only these members of each item, separated by commas */
    fields?: string | undefined
    /** Items on a page; all when left out */
    limit?: number | undefined
    /** From the Link of the previous page */
    after?: string | undefined
  } | undefined
}

/** The request of `api.machines.listForwards`. */
export interface MachinesListForwardsRequest extends CallOptions {
  params: {
    /** UUID or name, in any case */
    id: string
  }
}

/** The request of `api.machines.listSnapshots`. */
export interface MachinesListSnapshotsRequest extends CallOptions {
  params: {
    /** UUID or name, in any case */
    id: string
  }
  query?: {
    /** true: a snapshot is among the children of the one that the machine was on when it was made */
    group?: boolean | undefined
  } | undefined
}

/** The request of `api.machines.pause`. */
export interface MachinesPauseRequest extends ChangeOptions, WaitOptions {
  params: {
    /** UUID or name, in any case */
    id: string
  }
}

/** The request of `api.machines.readFile`. */
export interface MachinesReadFileRequest extends CallOptions {
  params: {
    /** UUID or name, in any case */
    id: string
  }
  query: {
    /** Absolute path of the file in the guest */
    path: string
  }
}

/** The request of `api.machines.removeForward`. */
export interface MachinesRemoveForwardRequest extends ChangeOptions, WaitOptions {
  params: {
    /** UUID or name, in any case */
    id: string
    /** PROTOCOL:ADDRESS:PORT of the host, such as tcp:127.0.0.1:8022 */
    forward: string
  }
}

/** The request of `api.machines.reset`. */
export interface MachinesResetRequest extends ChangeOptions, WaitOptions {
  params: {
    /** UUID or name, in any case */
    id: string
  }
}

/** The request of `api.machines.restart`. */
export interface MachinesRestartRequest extends ChangeOptions, WaitOptions {
  params: {
    /** UUID or name, in any case */
    id: string
  }
}

/** The request of `api.machines.resume`. */
export interface MachinesResumeRequest extends ChangeOptions, WaitOptions {
  params: {
    /** UUID or name, in any case */
    id: string
  }
}

/** The request of `api.machines.revertToSnapshot`. */
export interface MachinesRevertToSnapshotRequest extends ChangeOptions, WaitOptions {
  params: {
    /** UUID or name, in any case */
    id: string
    /** UUID or name of the snapshot, in any case. To read and to revert also `@` and a moment (`@2026-11-23T14:03:20Z`, `@14:03:20`): the newest one made until then */
    snapshot: string
  }
  body?: {
    /** true: a machine whose memory is in the snapshot is suspended afterwards, and does not run */
    skip_resume?: boolean | null | undefined
  } | undefined
}

/** The request of `api.machines.screen`. */
export interface MachinesScreenRequest extends CallOptions {
  params: {
    /** UUID or name, in any case */
    id: string
  }
  query?: {
    /** true: the guest gets no keys and no pointer from this connection, which only shows the screen */
    view_only?: 'true' | 'false' | undefined
  } | undefined
}

/** The request of `api.machines.screenshot`. */
export interface MachinesScreenshotRequest extends CallOptions {
  params: {
    /** UUID or name, in any case */
    id: string
  }
}

/** The request of `api.machines.set`. */
export interface MachinesSetRequest extends ChangeOptions, WaitOptions {
  params: {
    /** UUID or name, in any case */
    id: string
  }
  query?: {
    /** true: change nothing, and report what would change */
    dry_run?: boolean | undefined
  } | undefined
  body: {
    /** Accepted for other hypervisors; without effect here */
    owner?: string | null | undefined
    /** Operations; all are applied, or none */
    operations: readonly {
      /** What to change: cpu, memory, machine, description or network */
      group: string
      /** How to change it: rename for machine, set for the others */
      operation: string
      /** New value as text: number of CPUs, MB of memory, name, description, mode of the network */
      value?: string | number | boolean | null | undefined
      /** Further arguments */
      options?: readonly {
        /** Name of the argument */
        flag: string
        /** Value of the argument */
        value?: string | number | boolean | null | undefined
      }[] | null | undefined
      /** Accepted for other clients; without effect here */
      flags?: readonly string[] | null | undefined
    }[]
  }
}

/** The request of `api.machines.show`. */
export interface MachinesShowRequest extends CallOptions {
  params: {
    /** UUID or name, in any case */
    id: string
  }
}

/** The request of `api.machines.showCloudInit`. */
export interface MachinesShowCloudInitRequest extends CallOptions {
  params: {
    /** UUID or name, in any case */
    id: string
  }
}

/** The request of `api.machines.showSnapshot`. */
export interface MachinesShowSnapshotRequest extends CallOptions {
  params: {
    /** UUID or name, in any case */
    id: string
    /** UUID or name of the snapshot, in any case. To read and to revert also `@` and a moment (`@2026-11-23T14:03:20Z`, `@14:03:20`): the newest one made until then */
    snapshot: string
  }
}

/** The request of `api.machines.start`. */
export interface MachinesStartRequest extends ChangeOptions, WaitOptions {
  params: {
    /** UUID or name, in any case */
    id: string
  }
}

/** The request of `api.machines.status`. */
export interface MachinesStatusRequest extends CallOptions {
  params: {
    /** UUID or name, in any case */
    id: string
  }
}

/** The request of `api.machines.stop`. */
export interface MachinesStopRequest extends ChangeOptions, WaitOptions {
  params: {
    /** UUID or name, in any case */
    id: string
  }
  query?: {
    /** Only the value true counts: do not wait for the guest */
    force?: string | undefined
  } | undefined
}

/** The request of `api.machines.suspend`. */
export interface MachinesSuspendRequest extends ChangeOptions, WaitOptions {
  params: {
    /** UUID or name, in any case */
    id: string
  }
}

/** The request of `api.machines.tunnel`. */
export interface MachinesTunnelRequest extends CallOptions {
  params: {
    /** UUID or name, in any case */
    id: string
  }
  query: {
    /** TCP port of the guest */
    port: number
  }
}

/** The request of `api.machines.updateSnapshot`. */
export interface MachinesUpdateSnapshotRequest extends ChangeOptions, WaitOptions {
  params: {
    /** UUID or name, in any case */
    id: string
    /** UUID or name of the snapshot, in any case. To read and to revert also `@` and a moment (`@2026-11-23T14:03:20Z`, `@14:03:20`): the newest one made until then */
    snapshot: string
  }
  body: {
    /** Name of the snapshot, unique among those of the machine, in any case */
    snapshot_name?: string | null | undefined
    /** Text for people */
    snapshot_description?: string | null | undefined
  }
}

/** The request of `api.machines.wait`. */
export interface MachinesWaitRequest extends CallOptions {
  params: {
    /** UUID or name, in any case */
    id: string
  }
  query: {
    /** The condition: running, stopped, ip (it has an address), agent (its guest agent has answered), port:NUMBER (the guest accepts connections to it), serial:PATTERN (its serial output matches a regular expression of RE2) or event:TYPE (VM_STATE_CHANGED, VM_UPDATED, VM_REMOVED, VM_SNAPSHOTS_UPDATED) */
    for: string
    /** Seconds to wait, at most 300 */
    timeout?: number | undefined
    /** The cursor of an earlier reply for the same kind of condition: the search goes on there. Without it, serial output is searched from the last boot on, and events from now on */
    cursor?: string | undefined
  }
}

/** The request of `api.machines.writeFile`. */
export interface MachinesWriteFileRequest extends CallOptions {
  params: {
    /** UUID or name, in any case */
    id: string
  }
  query: {
    /** Absolute path of the file in the guest */
    path: string
    /** Its rights, in octal; those of the file that it replaces when left out, else 644 */
    mode?: string | undefined
  }
  readonly body: ReadableStream<Uint8Array> | Blob | Uint8Array<ArrayBuffer>
}

/** The request of `api.metrics.show`. */
export interface MetricsShowRequest extends CallOptions {
}

/** The request of `api.openapi.show`. */
export interface OpenapiShowRequest extends CallOptions {
}

/** The request of `api.pools.claim`. */
export interface PoolsClaimRequest extends ChangeOptions {
  params: {
    /** Name of the pool, unique on the host, case-insensitive */
    name: string
  }
  query?: {
    /** Seconds to wait for a machine, at most 300 */
    timeout?: number | undefined
  } | undefined
  body?: {
    /** They are added to those of the machine */
    labels?: Record<string, string | null> | null | undefined
    /** Seconds after which the service deletes the machine */
    ttl?: number | null | undefined
  } | undefined
}

/** The request of `api.pools.create`. */
export interface PoolsCreateRequest extends ChangeOptions {
  body: {
    /** Name of the pool, unique on the host, case-insensitive */
    name: string
    /** What the machines are made of: an image, a machine or a snapshot of a machine */
    from: {
      /** Name or digest of a registered image */
      image?: string | null | undefined
      /** Id or name of a machine: the machines of the pool are its copies, and forks of it while it runs */
      machine?: string | null | undefined
      /** Id or name of a snapshot of that machine: the machines of the pool are copies of the snapshot */
      snapshot?: string | null | undefined
    }
    /** What the machines are like, as in a create request. For copies of a machine: labels, ephemeral, autostart, restart */
    template?: {
      /** MB of that disk, if it is to be larger than the image */
      disk_size?: number | null | undefined
      /** Text for people */
      description?: string | null | undefined
      /** Number of virtual CPUs */
      cpus?: number | null | undefined
      /** MB */
      memory?: number | null | undefined
      /** Disks, in the order of attachment */
      disks?: readonly ({
        /** Absolute path of an existing image on the host; the machine uses it in place */
        path: string
        /** The bus of the disk; virtio when left out. Guests without drivers for virtio need ide. */
        bus?: 'virtio' | 'ide' | null | undefined
      } | {
        /** MB */
        size: number
        /** The bus of the disk; virtio when left out. Guests without drivers for virtio need ide. */
        bus?: 'virtio' | 'ide' | null | undefined
      } | {
        /** Name or digest of a registered image: the disk has its content */
        image: string
        /** Size of the machine in bytes */
        size?: number | null | undefined
        /** The bus of the disk; virtio when left out. Guests without drivers for virtio need ide. */
        bus?: 'virtio' | 'ide' | null | undefined
      })[] | null | undefined
      /** Absolute path of a kernel on the host, booted directly: Linux or multiboot on QEMU, only multiboot on the embedded driver */
      kernel?: string | null | undefined
      /** Absolute path of an initial RAM disk for the kernel */
      initrd?: string | null | undefined
      /** Command line of the kernel */
      cmdline?: string | null | undefined
      /** The mode of its only network card: isolated, nat, bridge:NAME or network:NAME; isolated if left out */
      network?: string | null | undefined
      /** Its network cards, in place of `network`; an empty list gives it none */
      networks?: readonly {
        /** isolated, nat, bridge:NAME or network:NAME */
        mode: string
        /** Model of the card: virtio or e1000 */
        card?: 'virtio' | 'e1000' | null | undefined
      }[] | null | undefined
      /** Names and values that lists can select by */
      labels?: Record<string, string | null> | null | undefined
      /** true: the service deletes the machine when it has stopped, and at its own start if the machine does not run */
      ephemeral?: boolean | null | undefined
      /** Whether the service starts the machine at its own start */
      autostart?: {
        /** True: the service starts the machine when it starts itself */
        enabled?: boolean | null | undefined
        /** Machines with a lower number start first */
        order?: number | null | undefined
        /** Seconds to wait before this machine is started */
        delay?: number | null | undefined
      } | undefined
      /** on-crash: the service starts the machine again when its hypervisor process has crashed */
      restart?: 'never' | 'on-crash' | null | undefined
      /** The board; q35 when left out, and pc for a multiboot kernel */
      machine_type?: 'pc' | 'q35' | null | undefined
      /** bios when left out */
      firmware?: 'bios' | 'uefi' | null | undefined
      /** True for a screen; none when left out */
      display?: boolean | null | undefined
      /** The number that the CPUs can grow to while the machine runs; `cpus` when left out */
      max_cpus?: number | null | undefined
      /** MB that the memory can grow to while the machine runs; `memory` when left out */
      max_memory?: number | null | undefined
      /** Device classes in the order in which the firmware tries them; disks, then CD-ROMs, when left out */
      boot_order?: readonly ('hdd' | 'cdrom' | 'net')[] | null | undefined
      /** CD-ROM drives with the ISO files in them: files of the host by path, or registered images by name or digest. A drive with neither is empty */
      cdroms?: readonly {
        /** Folder on the provider */
        path?: string | null | undefined
        /** Name or digest of a registered ISO image */
        image?: string | null | undefined
      }[] | null | undefined
      /** Folders of the host that the guest can mount by their names (9p) */
      shared_folders?: readonly {
        /** Name that people read */
        name: string
        /** Folder on the provider */
        path: string
        /** ro: the guest can only read the folder */
        mode?: 'ro' | 'rw' | null | undefined
        /** False: the machine keeps the folder, and its guest does not get it */
        enabled?: boolean | null | undefined
        /** Text for people */
        description?: string | null | undefined
      }[] | null | undefined
      /** What the machine may take of its host */
      limits?: {
        /** Percent of one CPU of the host; 150 is one and a half */
        cpu_percent?: number | null | undefined
        /** Of each disk, reads and writes together */
        disk_bytes_per_second?: number | null | undefined
        /** Of each disk, reads and writes together */
        disk_operations_per_second?: number | null | undefined
        /** Of each network card, in each direction */
        network_bytes_per_second?: number | null | undefined
      } | undefined
      /** A #cloud-config, script or other text for cloud-init. Never shown again */
      user_data?: string | null | undefined
      /** Public keys that may sign in as the default user of the guest */
      ssh_keys?: readonly string[] | null | undefined
      /** The host name of the guest; default: the name of the machine, if it can be one */
      hostname?: string | null | undefined
      /** The network configuration of cloud-init, as YAML */
      network_config?: string | null | undefined
    } | undefined
    /** The condition that a machine fulfils when it is ready; when left out, it only has to run: running, stopped, ip (it has an address), agent (its guest agent has answered), port:NUMBER (the guest accepts connections to it), serial:PATTERN (its serial output matches a regular expression of RE2) or event:TYPE (VM_STATE_CHANGED, VM_UPDATED, VM_REMOVED, VM_SNAPSHOTS_UPDATED) */
    until?: string | null | undefined
    /** The number of machines that are kept ready */
    min: number
    /** The most machines, with those that are claimed */
    max: number
    /** Seconds after which a ready machine that nobody has claimed is replaced; a day when left out */
    idle_ttl?: number | null | undefined
  }
}

/** The request of `api.pools.delete`. */
export interface PoolsDeleteRequest extends ChangeOptions {
  params: {
    /** Name of the pool, unique on the host, case-insensitive */
    name: string
  }
  query?: {
    /** What becomes of the ready machines: delete, or keep them as machines of nobody */
    members?: 'delete' | 'keep' | undefined
  } | undefined
}

/** The request of `api.pools.list`. */
export interface PoolsListRequest extends CallOptions, FilterOptions {
}

/** The request of `api.pools.show`. */
export interface PoolsShowRequest extends CallOptions {
  params: {
    /** Name of the pool, unique on the host, case-insensitive */
    name: string
  }
}

/** The request of `api.pools.update`. */
export interface PoolsUpdateRequest extends ChangeOptions {
  params: {
    /** Name of the pool, unique on the host, case-insensitive */
    name: string
  }
  body: {
    /** What the machines are made of: an image, a machine or a snapshot of a machine */
    from: {
      /** Name or digest of a registered image */
      image?: string | null | undefined
      /** Id or name of a machine: the machines of the pool are its copies, and forks of it while it runs */
      machine?: string | null | undefined
      /** Id or name of a snapshot of that machine: the machines of the pool are copies of the snapshot */
      snapshot?: string | null | undefined
    }
    /** What the machines are like, as in a create request. For copies of a machine: labels, ephemeral, autostart, restart */
    template?: {
      /** MB of that disk, if it is to be larger than the image */
      disk_size?: number | null | undefined
      /** Text for people */
      description?: string | null | undefined
      /** Number of virtual CPUs */
      cpus?: number | null | undefined
      /** MB */
      memory?: number | null | undefined
      /** Disks, in the order of attachment */
      disks?: readonly ({
        /** Absolute path of an existing image on the host; the machine uses it in place */
        path: string
        /** The bus of the disk; virtio when left out. Guests without drivers for virtio need ide. */
        bus?: 'virtio' | 'ide' | null | undefined
      } | {
        /** MB */
        size: number
        /** The bus of the disk; virtio when left out. Guests without drivers for virtio need ide. */
        bus?: 'virtio' | 'ide' | null | undefined
      } | {
        /** Name or digest of a registered image: the disk has its content */
        image: string
        /** Size of the machine in bytes */
        size?: number | null | undefined
        /** The bus of the disk; virtio when left out. Guests without drivers for virtio need ide. */
        bus?: 'virtio' | 'ide' | null | undefined
      })[] | null | undefined
      /** Absolute path of a kernel on the host, booted directly: Linux or multiboot on QEMU, only multiboot on the embedded driver */
      kernel?: string | null | undefined
      /** Absolute path of an initial RAM disk for the kernel */
      initrd?: string | null | undefined
      /** Command line of the kernel */
      cmdline?: string | null | undefined
      /** The mode of its only network card: isolated, nat, bridge:NAME or network:NAME; isolated if left out */
      network?: string | null | undefined
      /** Its network cards, in place of `network`; an empty list gives it none */
      networks?: readonly {
        /** isolated, nat, bridge:NAME or network:NAME */
        mode: string
        /** Model of the card: virtio or e1000 */
        card?: 'virtio' | 'e1000' | null | undefined
      }[] | null | undefined
      /** Names and values that lists can select by */
      labels?: Record<string, string | null> | null | undefined
      /** true: the service deletes the machine when it has stopped, and at its own start if the machine does not run */
      ephemeral?: boolean | null | undefined
      /** Whether the service starts the machine at its own start */
      autostart?: {
        /** True: the service starts the machine when it starts itself */
        enabled?: boolean | null | undefined
        /** Machines with a lower number start first */
        order?: number | null | undefined
        /** Seconds to wait before this machine is started */
        delay?: number | null | undefined
      } | undefined
      /** on-crash: the service starts the machine again when its hypervisor process has crashed */
      restart?: 'never' | 'on-crash' | null | undefined
      /** The board; q35 when left out, and pc for a multiboot kernel */
      machine_type?: 'pc' | 'q35' | null | undefined
      /** bios when left out */
      firmware?: 'bios' | 'uefi' | null | undefined
      /** True for a screen; none when left out */
      display?: boolean | null | undefined
      /** The number that the CPUs can grow to while the machine runs; `cpus` when left out */
      max_cpus?: number | null | undefined
      /** MB that the memory can grow to while the machine runs; `memory` when left out */
      max_memory?: number | null | undefined
      /** Device classes in the order in which the firmware tries them; disks, then CD-ROMs, when left out */
      boot_order?: readonly ('hdd' | 'cdrom' | 'net')[] | null | undefined
      /** CD-ROM drives with the ISO files in them: files of the host by path, or registered images by name or digest. A drive with neither is empty */
      cdroms?: readonly {
        /** Folder on the provider */
        path?: string | null | undefined
        /** Name or digest of a registered ISO image */
        image?: string | null | undefined
      }[] | null | undefined
      /** Folders of the host that the guest can mount by their names (9p) */
      shared_folders?: readonly {
        /** Name that people read */
        name: string
        /** Folder on the provider */
        path: string
        /** ro: the guest can only read the folder */
        mode?: 'ro' | 'rw' | null | undefined
        /** False: the machine keeps the folder, and its guest does not get it */
        enabled?: boolean | null | undefined
        /** Text for people */
        description?: string | null | undefined
      }[] | null | undefined
      /** What the machine may take of its host */
      limits?: {
        /** Percent of one CPU of the host; 150 is one and a half */
        cpu_percent?: number | null | undefined
        /** Of each disk, reads and writes together */
        disk_bytes_per_second?: number | null | undefined
        /** Of each disk, reads and writes together */
        disk_operations_per_second?: number | null | undefined
        /** Of each network card, in each direction */
        network_bytes_per_second?: number | null | undefined
      } | undefined
      /** A #cloud-config, script or other text for cloud-init. Never shown again */
      user_data?: string | null | undefined
      /** Public keys that may sign in as the default user of the guest */
      ssh_keys?: readonly string[] | null | undefined
      /** The host name of the guest; default: the name of the machine, if it can be one */
      hostname?: string | null | undefined
      /** The network configuration of cloud-init, as YAML */
      network_config?: string | null | undefined
    } | undefined
    /** The condition that a machine fulfils when it is ready; when left out, it only has to run: running, stopped, ip (it has an address), agent (its guest agent has answered), port:NUMBER (the guest accepts connections to it), serial:PATTERN (its serial output matches a regular expression of RE2) or event:TYPE (VM_STATE_CHANGED, VM_UPDATED, VM_REMOVED, VM_SNAPSHOTS_UPDATED) */
    until?: string | null | undefined
    /** The number of machines that are kept ready */
    min: number
    /** The most machines, with those that are claimed */
    max: number
    /** Seconds after which a ready machine that nobody has claimed is replaced; a day when left out */
    idle_ttl?: number | null | undefined
  }
}

/** The request of `api.roles.addClaim`. */
export interface RolesAddClaimRequest extends ChangeOptions {
  params: {
    /** Name of the role, in any case */
    id: string
  }
  body: {
    /** Name of the role or claim */
    name: string
  }
}

/** The request of `api.roles.create`. */
export interface RolesCreateRequest extends ChangeOptions {
  body: {
    /** Name of the role or claim */
    name: string
    /** Text for people */
    description?: string | null | undefined
    /** Names of the claims of the role */
    claims?: readonly string[] | null | undefined
  }
}

/** The request of `api.roles.delete`. */
export interface RolesDeleteRequest extends ChangeOptions {
  params: {
    /** Name of the role, in any case */
    id: string
  }
}

/** The request of `api.roles.list`. */
export interface RolesListRequest extends CallOptions, FilterOptions {
}

/** The request of `api.roles.listClaims`. */
export interface RolesListClaimsRequest extends CallOptions {
  params: {
    /** Name of the role, in any case */
    id: string
  }
}

/** The request of `api.roles.removeClaim`. */
export interface RolesRemoveClaimRequest extends ChangeOptions {
  params: {
    /** Name of the role, in any case */
    id: string
    /** Name of the claim, case-insensitive */
    claim: string
  }
}

/** The request of `api.roles.show`. */
export interface RolesShowRequest extends CallOptions {
  params: {
    /** Name of the role, in any case */
    id: string
  }
}

/** The request of `api.snapshotSchedules.delete`. */
export interface SnapshotSchedulesDeleteRequest extends ChangeOptions {
  params: {
    /** UUID or name, in any case */
    id: string
    /** Name of the schedule, in any case */
    schedule: string
  }
}

/** The request of `api.snapshotSchedules.list`. */
export interface SnapshotSchedulesListRequest extends CallOptions {
  params: {
    /** UUID or name, in any case */
    id: string
  }
}

/** The request of `api.snapshotSchedules.set`. */
export interface SnapshotSchedulesSetRequest extends ChangeOptions {
  params: {
    /** UUID or name, in any case */
    id: string
    /** Name of the schedule, in any case */
    schedule: string
  }
  body: {
    /** Seconds from one snapshot to the next */
    every?: number | null | undefined
    /** Times of the day (UTC), in place of `every` */
    at?: readonly string[] | null | undefined
    /** Whether the memory of a running or paused machine is saved too: then each snapshot is a checkpoint */
    memory?: boolean | null | undefined
    /** Which snapshots of this schedule are kept; the others are deleted */
    keep: {
      /** So many of the newest snapshots */
      last?: number | null | undefined
      /** The newest snapshot of an hour, for so many hours */
      hourly?: number | null | undefined
      /** The newest snapshot of a day, for so many days */
      daily?: number | null | undefined
      /** The newest snapshot of a week, for so many weeks from Monday on */
      weekly?: number | null | undefined
    }
    /** MB that the snapshots of this schedule may take together; the oldest are deleted first */
    max_size?: number | null | undefined
  }
}

/** The request of `api.ssh.execute`. */
export interface SshExecuteRequest extends ChangeOptions {
  body: {
    /** Host name or IP address */
    host: string
    /** TCP port */
    port?: number | null | undefined
    /** User on the remote host */
    username: string
    /** Password of that user */
    password?: string | null | undefined
    /** Private key, in PEM or OpenSSH form; tried before the password */
    key?: string | null | undefined
    /** Passphrase of the key */
    passphrase?: string | null | undefined
    /** Command line for the remote user's shell */
    command: string
    /** true: do not check the key of the host */
    enable_insecure_key?: boolean | null | undefined
    /** Fingerprint of the key that the host must have */
    fingerprint?: string | null | undefined
  }
}

/** The request of `api.userConfigs.create`. */
export interface UserConfigsCreateRequest extends ChangeOptions {
  body?: {
    /** Name that people read */
    name?: string | null | undefined
    /** Type of the value */
    type?: 'string' | 'bool' | 'int' | 'json' | null | undefined
    /** A text, or a value that fits the type */
    value?: unknown
    /** Generated when left out */
    slug?: string | null | undefined
  } | undefined
}

/** The request of `api.userConfigs.delete`. */
export interface UserConfigsDeleteRequest extends ChangeOptions {
  params: {
    /** Id or slug, in any case */
    id: string
  }
}

/** The request of `api.userConfigs.list`. */
export interface UserConfigsListRequest extends CallOptions, FilterOptions {
}

/** The request of `api.userConfigs.show`. */
export interface UserConfigsShowRequest extends CallOptions {
  params: {
    /** Id or slug, in any case */
    id: string
  }
}

/** The request of `api.userConfigs.update`. */
export interface UserConfigsUpdateRequest extends ChangeOptions {
  params: {
    /** Id or slug, in any case */
    id: string
  }
  body?: {
    /** Name that people read */
    name?: string | null | undefined
    /** Type of the value */
    type?: 'string' | 'bool' | 'int' | 'json' | null | undefined
    /** A text, or a value that fits the type */
    value?: unknown
  } | undefined
}

/** The request of `api.users.create`. */
export interface UsersCreateRequest extends ChangeOptions {
  body: {
    /** Name to sign in with; unique, case-insensitive */
    username: string
    /** Name that people read; of a role or claim, its name */
    name: string
    /** E-mail address; unique, case-insensitive; can be used to sign in */
    email: string
    /** Without one the user can use API keys alone */
    password?: string | null | undefined
    /** USER when left out */
    roles?: readonly string[] | null | undefined
    /** Names of claims */
    claims?: readonly string[] | null | undefined
    /** true gives the role SUPER_USER */
    is_super_user?: boolean | null | undefined
  }
}

/** The request of `api.users.delete`. */
export interface UsersDeleteRequest extends ChangeOptions {
  params: {
    /** Id, e-mail address or user name, in any case */
    id: string
  }
}

/** The request of `api.users.giveClaim`. */
export interface UsersGiveClaimRequest extends ChangeOptions {
  params: {
    /** Id, e-mail address or user name, in any case */
    id: string
  }
  body: {
    /** Name that people read; of a role or claim, its name */
    name: string
  }
}

/** The request of `api.users.giveRole`. */
export interface UsersGiveRoleRequest extends ChangeOptions {
  params: {
    /** Id, e-mail address or user name, in any case */
    id: string
  }
  body: {
    /** Name that people read; of a role or claim, its name */
    name: string
  }
}

/** The request of `api.users.list`. */
export interface UsersListRequest extends CallOptions, FilterOptions {
}

/** The request of `api.users.listClaims`. */
export interface UsersListClaimsRequest extends CallOptions {
  params: {
    /** Id, e-mail address or user name, in any case */
    id: string
  }
}

/** The request of `api.users.listRoles`. */
export interface UsersListRolesRequest extends CallOptions {
  params: {
    /** Id, e-mail address or user name, in any case */
    id: string
  }
}

/** The request of `api.users.show`. */
export interface UsersShowRequest extends CallOptions {
  params: {
    /** Id, e-mail address or user name, in any case */
    id: string
  }
}

/** The request of `api.users.takeClaim`. */
export interface UsersTakeClaimRequest extends ChangeOptions {
  params: {
    /** Id, e-mail address or user name, in any case */
    id: string
    /** Name of the claim, case-insensitive */
    claim: string
  }
}

/** The request of `api.users.takeRole`. */
export interface UsersTakeRoleRequest extends ChangeOptions {
  params: {
    /** Id, e-mail address or user name, in any case */
    id: string
    /** Name of the role, case-insensitive */
    role: string
  }
}

/** The request of `api.users.unlock`. */
export interface UsersUnlockRequest extends ChangeOptions {
  params: {
    /** Id, e-mail address or user name, in any case */
    id: string
  }
}

/** The request of `api.users.update`. */
export interface UsersUpdateRequest extends ChangeOptions {
  params: {
    /** Id, e-mail address or user name, in any case */
    id: string
  }
  body: {
    /** Name that people read; of a role or claim, its name */
    name?: string | null | undefined
    /** E-mail address; unique, case-insensitive; can be used to sign in */
    email?: string | null | undefined
    /** Password in plain text; the service stores only its hash */
    password?: string | null | undefined
  }
}

/** The operations of the service. */
export interface Api {
  /** Log of all actions and refusals, with user and address */
  readonly audit: {
    /** List audit entries: what was done or refused, by whom and from where; newest first. Needs role SUPER_USER. `GET /api/v1/audit` */
    list(request?: AuditListRequest): Promise<AuditPage>
  }
  /** Sign-in, tokens, passwords and API keys */
  readonly auth: {
    /** Change your own password; this ends all of your tokens. For every signed-in caller. `PUT /api/v1/auth/password` */
    changePassword(request: AuthChangePasswordRequest): Promise<Accepted>
    /** Create an API key; only this reply shows its credential. Needs role SUPER_USER and claim CREATE_API_KEY and claim LIST. The reply holds a secret that is shown once. `POST /api/v1/auth/api_keys` */
    createApiKey(request: AuthCreateApiKeyRequest): Promise<ApiKey>
    /** Issue a link with which you set a new password of your own in a browser, once, within 24 hours. An earlier link of yours ends. A change of your password ends the link too. The command `vmhost link` issues one for root. Needs role SUPER_USER. API keys are refused. The reply holds a secret that is shown once. `POST /api/v1/auth/links` */
    createLink(request?: AuthCreateLinkRequest): Promise<SignInLink>
    /** Issue a ticket for a WebSocket. Browsers cannot set headers of a WebSocket. The ticket goes into its query in place of a token. It is for exactly this path and query, once, within 30 seconds, with the rights that you have then. For every signed-in caller. The reply holds a secret that is shown once. `POST /api/v1/auth/tickets` */
    createTicket(request: AuthCreateTicketRequest): Promise<Ticket>
    /** Delete an API key. Needs claim DELETE_API_KEY. `DELETE /api/v1/auth/api_keys/{id}` */
    deleteApiKey(request: AuthDeleteApiKeyRequest): Promise<Accepted>
    /** List the API keys. Needs claim LIST_API_KEY. `GET /api/v1/auth/api_keys` */
    listApiKeys(request?: AuthListApiKeysRequest): Promise<ApiKey[]>
    /** Sign in a browser: the reply sets a cookie with a token. For the web console. The cookie counts only together with the header X-VMHost-Console, which this request needs too. Programs use POST /v1/auth/token. Open to everybody. `POST /api/v1/auth/session` */
    openSession(request: AuthOpenSessionRequest): Promise<Session>
    /** Show the public keys that verify tokens (RFC 7517). Open to everybody. `GET /.well-known/jwks.json` */
    publicKeys(request?: AuthPublicKeysRequest): Promise<KeySet>
    /** Revoke an API key permanently. Needs role SUPER_USER and claim LIST_API_KEY and claim DELETE_API_KEY. `PUT /api/v1/auth/api_keys/{id}/revoke` */
    revokeApiKey(request: AuthRevokeApiKeyRequest): Promise<Accepted>
    /** Sign tokens with a new key from now on; existing tokens stay valid until they expire. Needs role SUPER_USER. `POST /api/v1/auth/key/rotate` */
    rotateKey(request?: AuthRotateKeyRequest): Promise<RotatedKey>
    /** Show one API key. Needs claim LIST_API_KEY. `GET /api/v1/auth/api_keys/{id}` */
    showApiKey(request: AuthShowApiKeyRequest): Promise<ApiKey>
    /** Show who is signed in, with the present rights. For every signed-in caller. `GET /api/v1/auth/session` */
    showSession(request?: AuthShowSessionRequest): Promise<Session>
    /** Sign in: get a token for a password (with an e-mail address or user name) or for an API key. Open to everybody. `POST /api/v1/auth/token` */
    signIn(request: AuthSignInRequest): Promise<Token>
    /** Sign out: end the token of this request. For every signed-in caller. `DELETE /api/v1/auth/token` */
    signOut(request?: AuthSignOutRequest): Promise<Accepted>
    /** Set a password with a link and sign in the browser; the link is used up. The reply sets a cookie as that of POST /v1/auth/session does, and needs the same header. Open to everybody. `POST /api/v1/auth/links/use` */
    useLink(request: AuthUseLinkRequest): Promise<Session>
    /** Check whether the token of this request is valid. Open to everybody. `GET /api/v1/auth/token/validate` */
    validateOwnToken(request?: AuthValidateOwnTokenRequest): Promise<{
      /** Whether the token is valid */
      valid: true
      /** What the service did, for people */
      message: string
      /** The HTTP status of this reply */
      code: 200
    }>
    /** Check whether a token is valid. Open to everybody. `POST /api/v1/auth/token/validate` */
    validateToken(request: AuthValidateTokenRequest): Promise<{
      /** Whether the token is valid */
      valid: true
    }>
  }
  /** Packed machines on storage providers: push, pull, import, and visibility */
  readonly catalog: {
    /** Add claims, roles and tags to a manifest. Needs one of the claims UPDATE_CATALOG_MANIFEST, CATALOG_MANAGER_UPDATE. `PATCH /api/v1/catalog/{catalogId}/{version}/{architecture}/claims` */
    addClaims(request: CatalogAddClaimsRequest): Promise<CatalogManifest[]>
    /** Add roles to a manifest. Needs one of the claims UPDATE_CATALOG_MANIFEST, CATALOG_MANAGER_UPDATE. `PATCH /api/v1/catalog/{catalogId}/{version}/{architecture}/roles` */
    addRoles(request: CatalogAddRolesRequest): Promise<CatalogManifest[]>
    /** Add tags to a manifest. Needs one of the claims UPDATE_CATALOG_MANIFEST, CATALOG_MANAGER_UPDATE. `PATCH /api/v1/catalog/{catalogId}/{version}/{architecture}/tags` */
    addTags(request: CatalogAddTagsRequest): Promise<CatalogManifest[]>
    /** Change the connection of a manifest whose pack is on the new provider already. Needs one of the claims UPDATE_CATALOG_MANIFEST, CATALOG_MANAGER_UPDATE. `PATCH /api/v1/catalog/{catalogId}/{version}/{architecture}/connection` */
    connect(request: CatalogConnectRequest): Promise<CatalogManifest[]>
    /** Delete a catalog id, a version or an architecture, with its objects on the provider. Needs claim DELETE_CATALOG_MANIFEST. `DELETE /api/v1/catalog/{catalogId}/{version?}/{architecture?}` */
    delete(request: CatalogDeleteRequest): Promise<Accepted>
    /** Replace the description, tags, claims and roles of a manifest. Needs one of the claims UPDATE_CATALOG_MANIFEST, CATALOG_MANAGER_UPDATE. `PUT /api/v1/catalog/{catalogId}/{version}/{architecture}/metadata` */
    describe(request: CatalogDescribeRequest): Promise<CatalogManifest[]>
    /** Show what a download needs; with content=pack, send the bytes (Range). Needs claim LIST_CATALOG_MANIFEST. `GET /api/v1/catalog/{catalogId}/{version}/{architecture}/download` */
    download(request: CatalogDownloadRequest & { query: { content: {} } }): Promise<ReadableStream<Uint8Array>>
    /** Show what a download needs; with content=pack, send the bytes (Range). Needs claim LIST_CATALOG_MANIFEST. `GET /api/v1/catalog/{catalogId}/{version}/{architecture}/download` */
    download(request: CatalogDownloadRequest): Promise<CatalogManifest[]>
    /** Collect the garbage of a provider: remove the chunks that no pack there uses, or only count them. Needs role SUPER_USER. `POST /api/v1/catalog/garbage` */
    garbage(request: CatalogGarbageRequest & AsJob): Promise<JobOf<CollectedGarbage>>
    /** Collect the garbage of a provider: remove the chunks that no pack there uses, or only count them. Needs role SUPER_USER. `POST /api/v1/catalog/garbage` */
    garbage(request: CatalogGarbageRequest): Promise<CollectedGarbage>
    /** Import a pack from a provider that has its description. Needs one of the claims PUSH_CATALOG_MANIFEST, IMPORT_CATALOG_MANIFEST. `PUT /api/v1/catalog/import` */
    import(request: CatalogImportRequest & AsJob): Promise<JobOf<ImportResult>>
    /** Import a pack from a provider that has its description. Needs one of the claims PUSH_CATALOG_MANIFEST, IMPORT_CATALOG_MANIFEST. `PUT /api/v1/catalog/import` */
    import(request: CatalogImportRequest): Promise<ImportResult>
    /** Import a pvm or macvm machine from a provider that has no description of it. Needs one of the claims PUSH_CATALOG_MANIFEST, IMPORT_CATALOG_MANIFEST. `PUT /api/v1/catalog/import-vm` */
    importVm(request: CatalogImportVmRequest & AsJob): Promise<JobOf<ImportResult>>
    /** Import a pvm or macvm machine from a provider that has no description of it. Needs one of the claims PUSH_CATALOG_MANIFEST, IMPORT_CATALOG_MANIFEST. `PUT /api/v1/catalog/import-vm` */
    importVm(request: CatalogImportVmRequest): Promise<ImportResult>
    /** List the manifests of the catalog that you may see. Needs claim LIST_CATALOG_MANIFEST. `GET /api/v1/catalog` */
    list(request?: CatalogListRequest): Promise<CatalogManifest[]>
    /** Pull a machine from a catalog. Needs claim PULL_CATALOG_MANIFEST. The job goes on after a restart of the service. `PUT /api/v1/catalog/pull` */
    pull(request: CatalogPullRequest & AsJob): Promise<JobOf<PullResult>>
    /** Pull a machine from a catalog. Needs claim PULL_CATALOG_MANIFEST. The job goes on after a restart of the service. `PUT /api/v1/catalog/pull` */
    pull(request: CatalogPullRequest): Promise<PullResult>
    /** Start a pull; the reply is its job. Needs claim PULL_CATALOG_MANIFEST. The service answers at once with a job. The job goes on after a restart of the service. `PUT /api/v1/catalog/pull/async` */
    pullAsync(request: CatalogPullAsyncRequest): Promise<Job>
    /** Pack a machine, upload it and register it in the catalog. Needs claim PUSH_CATALOG_MANIFEST. The job goes on after a restart of the service. `POST /api/v1/catalog/push` */
    push(request: CatalogPushRequest & AsJob): Promise<JobOf<CatalogManifest[]>>
    /** Pack a machine, upload it and register it in the catalog. Needs claim PUSH_CATALOG_MANIFEST. The job goes on after a restart of the service. `POST /api/v1/catalog/push` */
    push(request: CatalogPushRequest): Promise<CatalogManifest[]>
    /** Start a push; the reply is its job. Needs claim PUSH_CATALOG_MANIFEST. The service answers at once with a job. The job goes on after a restart of the service. `POST /api/v1/catalog/push/async` */
    pushAsync(request: CatalogPushAsyncRequest): Promise<Job>
    /** Register a manifest whose pack is on its provider already. Needs claim CREATE_CATALOG_MANIFEST. `POST /api/v1/catalog` */
    register(request: CatalogRegisterRequest): Promise<CatalogManifest[]>
    /** Remove claims, roles and tags from a manifest. Needs one of the claims UPDATE_CATALOG_MANIFEST, CATALOG_MANAGER_UPDATE. `DELETE /api/v1/catalog/{catalogId}/{version}/{architecture}/claims` */
    removeClaims(request: CatalogRemoveClaimsRequest): Promise<CatalogManifest[]>
    /** Remove roles from a manifest. Needs one of the claims UPDATE_CATALOG_MANIFEST, CATALOG_MANAGER_UPDATE. `DELETE /api/v1/catalog/{catalogId}/{version}/{architecture}/roles` */
    removeRoles(request: CatalogRemoveRolesRequest): Promise<CatalogManifest[]>
    /** Remove tags from a manifest. Needs one of the claims UPDATE_CATALOG_MANIFEST, CATALOG_MANAGER_UPDATE. `DELETE /api/v1/catalog/{catalogId}/{version}/{architecture}/tags` */
    removeTags(request: CatalogRemoveTagsRequest): Promise<CatalogManifest[]>
    /** Revoke a manifest permanently: nobody can use it any more. Needs role SUPER_USER. `PATCH /api/v1/catalog/{catalogId}/{version}/{architecture}/revoke` */
    revoke(request: CatalogRevokeRequest): Promise<CatalogManifest[]>
    /** Show the manifests of a catalog id, a version or an architecture. Needs claim LIST_CATALOG_MANIFEST. `GET /api/v1/catalog/{catalogId}/{version?}/{architecture?}` */
    show(request: CatalogShowRequest): Promise<CatalogManifest[]>
    /** Taint a manifest: nobody can use it until it is untainted. Needs role SUPER_USER. `PATCH /api/v1/catalog/{catalogId}/{version}/{architecture}/taint` */
    taint(request: CatalogTaintRequest): Promise<CatalogManifest[]>
    /** Untaint a manifest: it can be used again. Needs role SUPER_USER. `PATCH /api/v1/catalog/{catalogId}/{version}/{architecture}/untaint` */
    untaint(request: CatalogUntaintRequest): Promise<CatalogManifest[]>
  }
  /** Pulled machines that this host caches for the next pull */
  readonly catalogCache: {
    /** Delete all cached machines that are not in use. Needs claim DELETE_ALL_CACHE. `DELETE /api/v1/catalog/cache` */
    clear(request?: CatalogCacheClearRequest): Promise<Accepted>
    /** Delete the cached machines of a catalog id, or of one of its versions. Needs claim DELET_CACHE_ITEM. `DELETE /api/v1/catalog/cache/{catalogId}/{version?}` */
    delete(request: CatalogCacheDeleteRequest): Promise<Accepted>
    /** List the cached machines, most recently used first. Needs claim LIST_CACHE. `GET /api/v1/catalog/cache` */
    list(request?: CatalogCacheListRequest): Promise<CachedManifest[]>
  }
  /** Catalogs of other services; this service stores the credentials */
  readonly catalogManagers: {
    /** Add claims to a manifest of a remote catalog. Needs one of the claims UPDATE_CATALOG_MANIFEST, CATALOG_MANAGER_UPDATE, CATALOG_MANAGER_UPDATE_CATALOG_MANIFEST_OWN. `PATCH /api/v1/catalog-managers/{id}/catalog/{catalogId}/{version}/{architecture}/claims` */
    catalogAddClaims(request: CatalogManagersCatalogAddClaimsRequest): Promise<RemoteManifest[]>
    /** Add roles to a manifest of a remote catalog. Needs one of the claims UPDATE_CATALOG_MANIFEST, CATALOG_MANAGER_UPDATE, CATALOG_MANAGER_UPDATE_CATALOG_MANIFEST_OWN. `PATCH /api/v1/catalog-managers/{id}/catalog/{catalogId}/{version}/{architecture}/roles` */
    catalogAddRoles(request: CatalogManagersCatalogAddRolesRequest): Promise<RemoteManifest[]>
    /** Add tags to a manifest of a remote catalog. Needs one of the claims UPDATE_CATALOG_MANIFEST, CATALOG_MANAGER_UPDATE, CATALOG_MANAGER_UPDATE_CATALOG_MANIFEST_OWN. `PATCH /api/v1/catalog-managers/{id}/catalog/{catalogId}/{version}/{architecture}/tags` */
    catalogAddTags(request: CatalogManagersCatalogAddTagsRequest): Promise<RemoteManifest[]>
    /** Change the connection of a manifest of a remote catalog. Needs role SUPER_USER. `PATCH /api/v1/catalog-managers/{id}/catalog/{catalogId}/{version}/{architecture}/connection` */
    catalogConnect(request: CatalogManagersCatalogConnectRequest): Promise<RemoteManifest[]>
    /** Delete a catalog id, a version or an architecture of a remote catalog; manifests that you may not see stay. Needs one of the claims DELETE_CATALOG_MANIFEST, CATALOG_MANAGER_DELETE_CATALOG_MANIFEST_OWN. `DELETE /api/v1/catalog-managers/{id}/catalog/{catalogId}/{version?}/{architecture?}` */
    catalogDelete(request: CatalogManagersCatalogDeleteRequest): Promise<Accepted>
    /** Change the description, tags, claims and roles of a manifest of a remote catalog. Needs one of the claims UPDATE_CATALOG_MANIFEST, CATALOG_MANAGER_UPDATE, CATALOG_MANAGER_UPDATE_CATALOG_MANIFEST_OWN. `PUT /api/v1/catalog-managers/{id}/catalog/{catalogId}/{version}/{architecture}/metadata` */
    catalogDescribe(request: CatalogManagersCatalogDescribeRequest): Promise<RemoteManifest[]>
    /** Show what a download from a remote catalog needs; with content=pack, forward the bytes (Range). Needs one of the claims LIST_CATALOG_MANIFEST, CATALOG_MANAGER_LIST_CATALOG_MANIFEST_OWN. `GET /api/v1/catalog-managers/{id}/catalog/{catalogId}/{version}/{architecture}/download` */
    catalogDownload(request: CatalogManagersCatalogDownloadRequest & { query: { content: {} } }): Promise<ReadableStream<Uint8Array>>
    /** Show what a download from a remote catalog needs; with content=pack, forward the bytes (Range). Needs one of the claims LIST_CATALOG_MANIFEST, CATALOG_MANAGER_LIST_CATALOG_MANIFEST_OWN. `GET /api/v1/catalog-managers/{id}/catalog/{catalogId}/{version}/{architecture}/download` */
    catalogDownload(request: CatalogManagersCatalogDownloadRequest): Promise<RemoteManifest[]>
    /** Import a manifest into a remote catalog from its storage. Needs one of the claims PUSH_CATALOG_MANIFEST, IMPORT_CATALOG_MANIFEST, CATALOG_MANAGER_PUSH_CATALOG_MANIFEST_OWN, CATALOG_MANAGER_IMPORT_CATALOG_MANIFEST_OWN. `PUT /api/v1/catalog-managers/{id}/catalog/import` */
    catalogImport(request: CatalogManagersCatalogImportRequest): Promise<RemoteImport>
    /** Import a machine into a remote catalog from its storage. Needs one of the claims PUSH_CATALOG_MANIFEST, IMPORT_CATALOG_MANIFEST, CATALOG_MANAGER_PUSH_CATALOG_MANIFEST_OWN, CATALOG_MANAGER_IMPORT_CATALOG_MANIFEST_OWN. `PUT /api/v1/catalog-managers/{id}/catalog/import-vm` */
    catalogImportVm(request: CatalogManagersCatalogImportVmRequest): Promise<RemoteImport>
    /** List the manifests of a remote catalog that you may see; a page can have fewer than its limit. Needs one of the claims LIST_CATALOG_MANIFEST, CATALOG_MANAGER_LIST_CATALOG_MANIFEST_OWN. `GET /api/v1/catalog-managers/{id}/catalog` */
    catalogList(request: CatalogManagersCatalogListRequest): Promise<RemoteManifest[]>
    /** Pull a machine from a remote catalog to this host. Needs one of the claims PULL_CATALOG_MANIFEST, CATALOG_MANAGER_PULL_CATALOG_MANIFEST_OWN. The job goes on after a restart of the service. `PUT /api/v1/catalog-managers/{id}/catalog/pull` */
    catalogPull(request: CatalogManagersCatalogPullRequest & AsJob): Promise<JobOf<PullResult>>
    /** Pull a machine from a remote catalog to this host. Needs one of the claims PULL_CATALOG_MANIFEST, CATALOG_MANAGER_PULL_CATALOG_MANIFEST_OWN. The job goes on after a restart of the service. `PUT /api/v1/catalog-managers/{id}/catalog/pull` */
    catalogPull(request: CatalogManagersCatalogPullRequest): Promise<PullResult>
    /** Start a pull from a remote catalog; the reply is its job. Needs one of the claims PULL_CATALOG_MANIFEST, CATALOG_MANAGER_PULL_CATALOG_MANIFEST_OWN. The service answers at once with a job. The job goes on after a restart of the service. `PUT /api/v1/catalog-managers/{id}/catalog/pull/async` */
    catalogPullAsync(request: CatalogManagersCatalogPullAsyncRequest): Promise<Job>
    /** Push a machine of this host to a remote catalog. Needs one of the claims PUSH_CATALOG_MANIFEST, CATALOG_MANAGER_PUSH_CATALOG_MANIFEST_OWN. The job goes on after a restart of the service. `POST /api/v1/catalog-managers/{id}/catalog/push` */
    catalogPush(request: CatalogManagersCatalogPushRequest & AsJob): Promise<JobOf<CatalogManifest[]>>
    /** Push a machine of this host to a remote catalog. Needs one of the claims PUSH_CATALOG_MANIFEST, CATALOG_MANAGER_PUSH_CATALOG_MANIFEST_OWN. The job goes on after a restart of the service. `POST /api/v1/catalog-managers/{id}/catalog/push` */
    catalogPush(request: CatalogManagersCatalogPushRequest): Promise<CatalogManifest[]>
    /** Start a push to a remote catalog; the reply is its job. Needs one of the claims PUSH_CATALOG_MANIFEST, CATALOG_MANAGER_PUSH_CATALOG_MANIFEST_OWN. The service answers at once with a job. The job goes on after a restart of the service. `POST /api/v1/catalog-managers/{id}/catalog/push/async` */
    catalogPushAsync(request: CatalogManagersCatalogPushAsyncRequest): Promise<Job>
    /** Register a manifest in a remote catalog. Needs one of the claims CREATE_CATALOG_MANIFEST, CATALOG_MANAGER_CREATE_CATALOG_MANIFEST_OWN. `POST /api/v1/catalog-managers/{id}/catalog` */
    catalogRegister(request: CatalogManagersCatalogRegisterRequest): Promise<RemoteManifest[]>
    /** Remove claims from a manifest of a remote catalog. Needs one of the claims UPDATE_CATALOG_MANIFEST, CATALOG_MANAGER_UPDATE, CATALOG_MANAGER_UPDATE_CATALOG_MANIFEST_OWN. `DELETE /api/v1/catalog-managers/{id}/catalog/{catalogId}/{version}/{architecture}/claims` */
    catalogRemoveClaims(request: CatalogManagersCatalogRemoveClaimsRequest): Promise<RemoteManifest[]>
    /** Remove roles from a manifest of a remote catalog. Needs one of the claims UPDATE_CATALOG_MANIFEST, CATALOG_MANAGER_UPDATE, CATALOG_MANAGER_UPDATE_CATALOG_MANIFEST_OWN. `DELETE /api/v1/catalog-managers/{id}/catalog/{catalogId}/{version}/{architecture}/roles` */
    catalogRemoveRoles(request: CatalogManagersCatalogRemoveRolesRequest): Promise<RemoteManifest[]>
    /** Remove tags from a manifest of a remote catalog. Needs one of the claims UPDATE_CATALOG_MANIFEST, CATALOG_MANAGER_UPDATE, CATALOG_MANAGER_UPDATE_CATALOG_MANIFEST_OWN. `DELETE /api/v1/catalog-managers/{id}/catalog/{catalogId}/{version}/{architecture}/tags` */
    catalogRemoveTags(request: CatalogManagersCatalogRemoveTagsRequest): Promise<RemoteManifest[]>
    /** Revoke a manifest of a remote catalog permanently. Needs role SUPER_USER. `PATCH /api/v1/catalog-managers/{id}/catalog/{catalogId}/{version}/{architecture}/revoke` */
    catalogRevoke(request: CatalogManagersCatalogRevokeRequest): Promise<RemoteManifest[]>
    /** Show the manifests of a catalog id, a version or an architecture of a remote catalog. Needs one of the claims LIST_CATALOG_MANIFEST, CATALOG_MANAGER_LIST_CATALOG_MANIFEST_OWN. `GET /api/v1/catalog-managers/{id}/catalog/{catalogId}/{version?}/{architecture?}` */
    catalogShow(request: CatalogManagersCatalogShowRequest): Promise<RemoteManifest[]>
    /** Taint a manifest of a remote catalog: nobody can use it until it is untainted. Needs role SUPER_USER. `PATCH /api/v1/catalog-managers/{id}/catalog/{catalogId}/{version}/{architecture}/taint` */
    catalogTaint(request: CatalogManagersCatalogTaintRequest): Promise<RemoteManifest[]>
    /** Untaint a manifest of a remote catalog. Needs role SUPER_USER. `PATCH /api/v1/catalog-managers/{id}/catalog/{catalogId}/{version}/{architecture}/untaint` */
    catalogUntaint(request: CatalogManagersCatalogUntaintRequest): Promise<RemoteManifest[]>
    /** Create a catalog manager: a remote catalog with its address and credentials. Needs one of the claims CATALOG_MANAGER_CREATE, CATALOG_MANAGER_CREATE_OWN. `POST /api/v1/catalog-managers` */
    create(request: CatalogManagersCreateRequest): Promise<CatalogManager>
    /** Delete a catalog manager. Needs one of the claims CATALOG_MANAGER_DELETE, CATALOG_MANAGER_DELETE_OWN. `DELETE /api/v1/catalog-managers/{id}` */
    delete(request: CatalogManagersDeleteRequest): Promise<Accepted>
    /** List the catalog managers that you may see. Needs one of the claims CATALOG_MANAGER_LIST, CATALOG_MANAGER_LIST_OWN. `GET /api/v1/catalog-managers` */
    list(request?: CatalogManagersListRequest): Promise<CatalogManager[]>
    /** Show a catalog manager. Needs one of the claims CATALOG_MANAGER_LIST, CATALOG_MANAGER_LIST_OWN. `GET /api/v1/catalog-managers/{id}` */
    show(request: CatalogManagersShowRequest): Promise<CatalogManager>
    /** Change a catalog manager. Needs one of the claims CATALOG_MANAGER_UPDATE, CATALOG_MANAGER_UPDATE_OWN. `PUT /api/v1/catalog-managers/{id}` */
    update(request: CatalogManagersUpdateRequest): Promise<CatalogManager>
  }
  /** Single rights */
  readonly claims: {
    /** Create a claim, which catalog manifests can require. Needs claim CREATE_CLAIM. `POST /api/v1/auth/claims` */
    create(request: ClaimsCreateRequest): Promise<Claim>
    /** Delete a claim that was added here and that no user holds. Needs claim DELETE_CLAIM. `DELETE /api/v1/auth/claims/{id}` */
    delete(request: ClaimsDeleteRequest): Promise<Accepted>
    /** List the claims and the users who hold them directly. Needs claim LIST_CLAIM. `GET /api/v1/auth/claims` */
    list(request?: ClaimsListRequest): Promise<ClaimWithUsers[]>
    /** List the claims, grouped by what they protect. Needs claim LIST_CLAIM. `GET /api/v1/auth/claims/grouped` */
    listGrouped(request?: ClaimsListGroupedRequest): Promise<ClaimGroup[]>
    /** Show one claim. Needs claim LIST_CLAIM. `GET /api/v1/auth/claims/{id}` */
    show(request: ClaimsShowRequest): Promise<ClaimWithUsers>
  }
  /** Events as pages, server-sent events and WebSocket messages */
  readonly events: {
    /** List the WebSockets that receive events. Needs role SUPER_USER. `GET /api/v1/ws/clients` */
    clients(request?: EventsClientsRequest): Promise<EventClient[]>
    /** List the events after a cursor, oldest first. For every signed-in caller. `GET /api/v1/events` */
    list(request?: EventsListRequest): Promise<EventPage>
    /** Show statistics of the WebSockets that receive events. Needs role SUPER_USER. `GET /api/v1/ws/stats` */
    stats(request?: EventsStatsRequest): Promise<SubscriptionStats>
    /** Receive events as server-sent events; Last-Event-ID continues an earlier stream. For every signed-in caller. `GET /api/v1/events/stream` */
    stream(request?: EventsStreamRequest): Promise<ReadableStream<Uint8Array>>
    /** Receive events over a WebSocket. For every signed-in caller. `GET /api/v1/ws/subscribe` */
    subscribe(request?: EventsSubscribeRequest): Promise<WebSocket>
    /** Stop receiving some types of events over a WebSocket. For every signed-in caller. `POST /api/v1/ws/unsubscribe` */
    unsubscribe(request: EventsUnsubscribeRequest): Promise<{
      /** The HTTP status of this reply */
      code: 200
      /** What the service did, for people */
      message: string
    }>
  }
  /** Health of the service and its parts */
  readonly health: {
    /** Check that the service answers and accepts changes. Open to everybody. `GET /api/health/probe` */
    probe(request?: HealthProbeRequest): Promise<{
      /** OK */
      status: 'OK'
    }>
    /** Show the health of each part of the service. For every signed-in caller. `GET /api/v1/health/system` */
    system(request?: HealthSystemRequest): Promise<SystemHealth>
  }
  /** Hosts whose machines this service manages */
  readonly hosts: {
    /** Register a host. The reply has the key that the host needs as its setting `control_key`, and the id that its setting `trusted_issuers` needs as the audience. Needs role SUPER_USER and claim CREATE_HOST. The reply holds a secret that is shown once. `POST /api/v1/hosts` */
    create(request: HostsCreateRequest): Promise<RegisteredHost>
    /** Remove a host and its key; its machines stay on it. Needs claim DELETE_HOST. `DELETE /api/v1/hosts/{id}` */
    delete(request: HostsDeleteRequest): Promise<Accepted>
    /** Give a host no new machines; those that it has stay. Needs claim UPDATE_HOST. `PUT /api/v1/hosts/{id}/drain` */
    drain(request: HostsDrainRequest): Promise<Host>
    /** Report the state of a host, its machines and their events. Hosts call this, with their key as `X-Host-Key`. The reply says what the service has stored of the host; the next heartbeat goes on from there. Open to everybody. `PUT /api/v1/hosts/{id}/heartbeat` */
    heartbeat(request: HostsHeartbeatRequest): Promise<HeartbeatReply>
    /** List the hosts that this service controls. Needs claim LIST_HOST. `GET /api/v1/hosts` */
    list(request?: HostsListRequest): Promise<Host[]>
    /** Send the pack that a host pulls through a catalog manager (Range). Hosts call this, with their key as `X-Host-Key`, while the job runs. So the credentials of the manager stay with this service. Open to everybody. `GET /api/v1/hosts/{id}/packs/{job}` */
    pack(request: HostsPackRequest & { query: { content: {} } }): Promise<ReadableStream<Uint8Array>>
    /** Send the pack that a host pulls through a catalog manager (Range). Hosts call this, with their key as `X-Host-Key`, while the job runs. So the credentials of the manager stay with this service. Open to everybody. `GET /api/v1/hosts/{id}/packs/{job}` */
    pack(request: HostsPackRequest): Promise<unknown>
    /** Show one host. Needs claim LIST_HOST. `GET /api/v1/hosts/{id}` */
    show(request: HostsShowRequest): Promise<Host>
    /** Give a drained host new machines again. Needs claim UPDATE_HOST. `PUT /api/v1/hosts/{id}/undrain` */
    undrain(request: HostsUndrainRequest): Promise<Host>
    /** Change the address or the labels of a host. Needs role SUPER_USER and claim UPDATE_HOST. `PUT /api/v1/hosts/{id}` */
    update(request: HostsUpdateRequest): Promise<Host>
  }
  /** Disk and ISO images of this host, which machines are made of */
  readonly images: {
    /** Pull an image from an address, or register an uploaded one. Formats: raw, qcow2, vmdk, vhdx, OVA and ISO. Disks are stored as qcow2. With sha256 or checksums_url the file is used only if it has that digest. Needs claim CREATE_IMAGE. The job goes on after a restart of the service. `POST /api/v1/images` */
    create(request: ImagesCreateRequest & AsJob): Promise<JobOf<Image>>
    /** Pull an image from an address, or register an uploaded one. Formats: raw, qcow2, vmdk, vhdx, OVA and ISO. Disks are stored as qcow2. With sha256 or checksums_url the file is used only if it has that digest. Needs claim CREATE_IMAGE. The job goes on after a restart of the service. `POST /api/v1/images` */
    create(request: ImagesCreateRequest): Promise<Image>
    /** Delete an image that no machine uses. Needs claim DELETE_IMAGE. `DELETE /api/v1/images/{id}` */
    delete(request: ImagesDeleteRequest): Promise<Accepted>
    /** List the images. Needs claim LIST_IMAGE. `GET /api/v1/images` */
    list(request?: ImagesListRequest): Promise<Image[]>
    /** Show an image. Needs claim LIST_IMAGE. `GET /api/v1/images/{id}` */
    show(request: ImagesShowRequest): Promise<Image>
    /** Show how much of an upload is there. Needs claim CREATE_IMAGE. `GET /api/v1/images/{name}/upload` */
    showUpload(request: ImagesShowUploadRequest): Promise<ImageUpload>
    /** Upload a range of the file of an image. The ranges come one after the other; one that begins at 0 begins again. GET tells where the next one begins. POST /v1/images with upload and sha256 makes the image. Needs claim CREATE_IMAGE. `PUT /api/v1/images/{name}/upload` */
    upload(request: ImagesUploadRequest): Promise<ImageUpload>
  }
  /** Work in the background */
  readonly jobs: {
    /** Cancel a job: its work stops in a stable state. Needs one of the claims JOB_MANAGER_DELETE, JOB_MANAGER_LIST_OWN. `POST /api/v1/jobs/{id}/cancel` */
    cancel(request: JobsCancelRequest): Promise<Job>
    /** Delete the records of all jobs that have ended. Needs one of the claims JOB_MANAGER_DELETE, JOB_MANAGER_LIST_OWN. `DELETE /api/v1/jobs/cleanup` */
    cleanUp(request?: JobsCleanUpRequest): Promise<Accepted>
    /** Delete the record of a job that has ended. Needs one of the claims JOB_MANAGER_DELETE, JOB_MANAGER_LIST_OWN. `DELETE /api/v1/jobs/{id}` */
    delete(request: JobsDeleteRequest): Promise<Accepted>
    /** List your jobs, newest first; with JOB_MANAGER_LIST the jobs of all users. Needs one of the claims JOB_MANAGER_LIST, JOB_MANAGER_LIST_OWN. `GET /api/v1/jobs` */
    list(request?: JobsListRequest): Promise<Job[]>
    /** Show a job: its progress, and how it ended. Needs one of the claims JOB_MANAGER_LIST, JOB_MANAGER_LIST_OWN. `GET /api/v1/jobs/{id}` */
    show(request: JobsShowRequest): Promise<Job>
  }
  /** License of the virtualization product */
  readonly license: {
    /** Show the active license of the virtualization product on this host. For every signed-in caller. `GET /api/v1/hypervisor_desktop/key` */
    show(request?: LicenseShowRequest): Promise<License>
  }
  /** Virtual machines of this host */
  readonly machines: {
    /** Open a port of the host that leads to a port of a machine. The port is open whenever the machine runs: at once if it runs now. It leads to the isolated card of the machine, which must take its address by DHCP. `host_address` is 127.0.0.1 if left out; other addresses than the loopback need the setting `forward_addresses`. A clone of the machine has no forwards. Needs claim UPDATE_VM. `POST /api/v1/machines/{id}/forwards` */
    addForward(request: MachinesAddForwardRequest): Promise<Forward>
    /** Clone a machine; with linked=true the clone shares the disks of its source. Needs claim CREATE_VM. The job goes on after a restart of the service. `PUT /api/v1/machines/{id}/clone` */
    clone(request: MachinesCloneRequest & AsJob): Promise<JobOf<ClonedMachine>>
    /** Clone a machine; with linked=true the clone shares the disks of its source. Needs claim CREATE_VM. The job goes on after a restart of the service. `PUT /api/v1/machines/{id}/clone` */
    clone(request: MachinesCloneRequest): Promise<ClonedMachine>
    /** Read and write the serial console of a machine over a WebSocket, or read it as text. Binary messages are bytes of the serial line, in both directions; text messages are JSON about them. A client that returns continues at its offset. Many can read; one connection writes. A caller without EXECUTE_COMMAND_VM may open the consoles of the machines that they made. The console ends when the caller loses the right to it. Needs one of the claims EXECUTE_COMMAND_VM, LIST_VM. This GET changes something: it is refused to prefetching and to pages of other sites; PUT does the same. `GET /api/v1/machines/{id}/console` */
    console(request: MachinesConsoleRequest): Promise<WebSocket>
    /** Create a machine; with `until` it is started, and the reply comes when the condition is met. Needs claim CREATE_VM. `POST /api/v1/machines` */
    create(request: MachinesCreateRequest & AsJob): Promise<JobOf<CreatedMachine>>
    /** Create a machine; with `until` it is started, and the reply comes when the condition is met. Needs claim CREATE_VM. `POST /api/v1/machines` */
    create(request: MachinesCreateRequest): Promise<CreatedMachine>
    /** Make a snapshot of a machine: its disks, its hardware and, if it runs or is paused or suspended, its memory. A running machine pauses until its memory is saved, and continues. Without `memory`, an agent freezes the file systems of the guest for a moment. A machine that uses a disk image of the host in place, or on QEMU a raw one, cannot have snapshots. Needs one of the claims CREATE_SNAPSHOT_VM, CREATE_OWN_VM_SNAPSHOT. The job goes on after a restart of the service. `POST /api/v1/machines/{id}/snapshots` */
    createSnapshot(request: MachinesCreateSnapshotRequest & AsJob): Promise<JobOf<CreatedSnapshot>>
    /** Make a snapshot of a machine: its disks, its hardware and, if it runs or is paused or suspended, its memory. A running machine pauses until its memory is saved, and continues. Without `memory`, an agent freezes the file systems of the guest for a moment. A machine that uses a disk image of the host in place, or on QEMU a raw one, cannot have snapshots. Needs one of the claims CREATE_SNAPSHOT_VM, CREATE_OWN_VM_SNAPSHOT. The job goes on after a restart of the service. `POST /api/v1/machines/{id}/snapshots` */
    createSnapshot(request: MachinesCreateSnapshotRequest): Promise<CreatedSnapshot>
    /** Delete a stopped machine; force=true stops it first. Needs claim DELETE_VM. `DELETE /api/v1/machines/{id}` */
    delete(request: MachinesDeleteRequest & AsJob): Promise<JobOf<Accepted>>
    /** Delete a stopped machine; force=true stops it first. Needs claim DELETE_VM. `DELETE /api/v1/machines/{id}` */
    delete(request: MachinesDeleteRequest): Promise<Accepted>
    /** Delete what the cloud-init of a stopped machine is told. Its CD-ROM with `user_data`, `ssh_keys`, `hostname` and `network_config` is gone at the next start. The guest keeps what cloud-init has configured. Needs claim UPDATE_VM. `DELETE /api/v1/machines/{id}/cloud-init` */
    deleteCloudInit(request: MachinesDeleteCloudInitRequest): Promise<Accepted>
    /** Delete a snapshot; the machine does not change. The snapshots that were made on top of it stay, unless `delete_children` is true. What it had of the disks alone is freed at once if the machine is stopped, else when the machine starts or is cloned the next time. Needs one of the claims DELETE_SNAPSHOT_VM, DELETE_OWN_VM_SNAPSHOT. `DELETE /api/v1/machines/{id}/snapshots/{snapshot}` */
    deleteSnapshot(request: MachinesDeleteSnapshotRequest): Promise<Accepted>
    /** Delete all snapshots of a machine; the machine does not change. Needs one of the claims DELETE_ALL_SNAPSHOTS_VM, DELETE_ALL_OWN_VM_SNAPSHOTS. `DELETE /api/v1/machines/{id}/snapshots` */
    deleteSnapshots(request: MachinesDeleteSnapshotsRequest): Promise<Accepted>
    /** Run a command in a running machine, by its guest agent. A caller without EXECUTE_COMMAND_VM may do it in the machines that they made. The reply is 200 whatever the exit code. When the caller disconnects, or cancels the job, the command is killed with all that it has started. Needs one of the claims EXECUTE_COMMAND_VM, LIST_VM. The reply holds a secret that is shown once. `PUT /api/v1/machines/{id}/execute` */
    execute(request: MachinesExecuteRequest & AsJob): Promise<JobOf<MachineExecuteResult>>
    /** Run a command in a running machine, by its guest agent. A caller without EXECUTE_COMMAND_VM may do it in the machines that they made. The reply is 200 whatever the exit code. When the caller disconnects, or cancels the job, the command is killed with all that it has started. Needs one of the claims EXECUTE_COMMAND_VM, LIST_VM. The reply holds a secret that is shown once. `PUT /api/v1/machines/{id}/execute` */
    execute(request: MachinesExecuteRequest): Promise<MachineExecuteResult>
    /** Fork a machine: make copies of it that run on from its present moment, or from that of a snapshot. The machine runs or is paused. It has a short pause, in which its memory is copied; then it is as before, and all forks run. They share its disks and, on QEMU, that copy of its memory, and each keeps its own changes. A fork has its own id and MAC addresses, and no forwards; on QEMU it has its own `vmgenid` too. With `snapshot` the machine may be in any state and does not change: the forks go on with the memory of the snapshot, or boot if it has none. The reply names what each guest takes over when it answers, and what the forks have in common with the machine. Needs claim CREATE_VM. `POST /api/v1/machines/{id}/fork` */
    fork(request: MachinesForkRequest): Promise<ForkedMachines>
    /** List the machines of this host. Needs claim LIST_VM. `GET /api/v1/machines` */
    list(request?: MachinesListRequest): Promise<Machine[]>
    /** List the ports of the host that lead to ports of a machine. Needs claim LIST_VM. `GET /api/v1/machines/{id}/forwards` */
    listForwards(request: MachinesListForwardsRequest): Promise<Forward[]>
    /** List the snapshots of a machine, the oldest first; with group=true as trees. Needs one of the claims LIST_SNAPSHOT_VM, LIST_OWN_VM_SNAPSHOT. `GET /api/v1/machines/{id}/snapshots` */
    listSnapshots(request: MachinesListSnapshotsRequest): Promise<SnapshotList>
    /** Halt a machine in memory. Needs claim UPDATE_VM_STATES. The job goes on after a restart of the service. `PUT /api/v1/machines/{id}/pause` */
    pause(request: MachinesPauseRequest & AsJob): Promise<JobOf<MachineOperationResult>>
    /** Halt a machine in memory. Needs claim UPDATE_VM_STATES. The job goes on after a restart of the service. `PUT /api/v1/machines/{id}/pause` */
    pause(request: MachinesPauseRequest): Promise<MachineOperationResult>
    /** Read a file of a running machine, by its guest agent. A reply that ends before its Content-Length is not complete. With Want-Repr-Digest: sha-256=1 the file is read twice, and the reply has its SHA-256 as Repr-Digest (RFC 9530). Needs one of the claims EXECUTE_COMMAND_VM, LIST_VM. `GET /api/v1/machines/{id}/files` */
    readFile(request: MachinesReadFileRequest): Promise<ReadableStream<Uint8Array>>
    /** Close a port of the host that leads to a machine; its connections stay. Needs claim UPDATE_VM. `DELETE /api/v1/machines/{id}/forwards/{forward}` */
    removeForward(request: MachinesRemoveForwardRequest): Promise<Accepted>
    /** Reset a machine, as its reset button does. Needs claim UPDATE_VM_STATES. `PUT /api/v1/machines/{id}/reset` */
    reset(request: MachinesResetRequest & AsJob): Promise<JobOf<MachineOperationResult>>
    /** Reset a machine, as its reset button does. Needs claim UPDATE_VM_STATES. `PUT /api/v1/machines/{id}/reset` */
    reset(request: MachinesResetRequest): Promise<MachineOperationResult>
    /** Shut a machine down and start it again. Needs claim UPDATE_VM_STATES. `PUT /api/v1/machines/{id}/restart` */
    restart(request: MachinesRestartRequest & AsJob): Promise<JobOf<MachineOperationResult>>
    /** Shut a machine down and start it again. Needs claim UPDATE_VM_STATES. `PUT /api/v1/machines/{id}/restart` */
    restart(request: MachinesRestartRequest): Promise<MachineOperationResult>
    /** Resume a paused or suspended machine. Needs claim UPDATE_VM_STATES. The job goes on after a restart of the service. `PUT /api/v1/machines/{id}/resume` */
    resume(request: MachinesResumeRequest & AsJob): Promise<JobOf<MachineOperationResult>>
    /** Resume a paused or suspended machine. Needs claim UPDATE_VM_STATES. The job goes on after a restart of the service. `PUT /api/v1/machines/{id}/resume` */
    resume(request: MachinesResumeRequest): Promise<MachineOperationResult>
    /** Give a machine the disks, the hardware and the memory of a snapshot; what it is now is dropped. With memory the guest continues where it was; without memory the machine is stopped. The name, the labels, the limits and the forwards of the machine stay. Disks that it got later are detached. Needs one of the claims REVERT_SNAPSHOT_VM, REVERT_OWN_VM_SNAPSHOT. `POST /api/v1/machines/{id}/snapshots/{snapshot}/revert` */
    revertToSnapshot(request: MachinesRevertToSnapshotRequest & AsJob): Promise<JobOf<Snapshot>>
    /** Give a machine the disks, the hardware and the memory of a snapshot; what it is now is dropped. With memory the guest continues where it was; without memory the machine is stopped. The name, the labels, the limits and the forwards of the machine stay. Disks that it got later are detached. Needs one of the claims REVERT_SNAPSHOT_VM, REVERT_OWN_VM_SNAPSHOT. `POST /api/v1/machines/{id}/snapshots/{snapshot}/revert` */
    revertToSnapshot(request: MachinesRevertToSnapshotRequest): Promise<Snapshot>
    /** See the screen of a running machine, and use its keyboard and pointer, over a WebSocket. Binary messages are bytes of RFB (RFC 6143), the protocol of VNC, in both directions; a message of the client has at most 1 MiB. A caller without EXECUTE_COMMAND_VM may open the screens of the machines that they made. The screen closes when the machine stops, and when the caller loses the right to it. Needs one of the claims EXECUTE_COMMAND_VM, LIST_VM. This GET changes something: it is refused to prefetching and to pages of other sites; PUT does the same. `GET /api/v1/machines/{id}/screen` */
    screen(request: MachinesScreenRequest): Promise<WebSocket>
    /** Take a picture of the screen of a running machine. The reply is a PNG. A caller without EXECUTE_COMMAND_VM may take pictures of the machines that they made. Needs one of the claims EXECUTE_COMMAND_VM, LIST_VM. `GET /api/v1/machines/{id}/screenshot` */
    screenshot(request: MachinesScreenshotRequest): Promise<ReadableStream<Uint8Array>>
    /** Change a machine with a list of operations; all are applied, or none. `cpu` `set`: number of CPUs. `memory` `set`: MB. `machine` `rename`: new name. `description` `set`: text for people. `network` `set`: `isolated`, `nat`, `bridge:NAME` or `network:NAME`. `device` `add`, `set`, `remove`, `connect` and `disconnect`: `hdd` (options `size`, `path`), `cdrom` (`path`) and `net`. `boot-order` `boot-order`: device classes, `bios-type`: `legacy` or `efi64`. `shared-folder` `add`, `set` and `delete`: `path`, `mode`. `limits`: the operation is the name of the limit. `labels` `add`, `set` and `remove`: `NAME=VALUE`, separated by commas; `set` replaces all, `remove` takes names. `ttl` `set`: seconds from now; `ttl` `remove`. `ephemeral` `set`: `on` or `off`. `restart` `set`: `never` or `on-crash`. `autostart` `enabled`, `order` and `delay`. These are possible in every state, also of a paused or suspended machine. `cmd` `set` takes the options `autostart` and `autostart-delay`. Settings that only other hypervisors have (`time`, `rosetta`, `efi-secure-boot`) are taken with the value that the record shows. `state` and `machine` `clone` run what the endpoints of that name run, with their rights. A running machine takes what its guest can be given while it runs; it must be stopped for the rest. With `dry_run=true` the service changes nothing, and the reply says what would change, and when. Needs claim UPDATE_VM. `PUT /api/v1/machines/{id}/set` */
    set(request: MachinesSetRequest): Promise<MachineSetResult>
    /** Show one machine, as an array of one record. Needs claim LIST_VM. `GET /api/v1/machines/{id}` */
    show(request: MachinesShowRequest): Promise<Machine[]>
    /** Show how far the cloud-init of a running machine is, by its guest agent. The guest is asked for each request. The reply has nothing of what cloud-init is told. Needs one of the claims EXECUTE_COMMAND_VM, LIST_VM. `GET /api/v1/machines/{id}/cloud-init` */
    showCloudInit(request: MachinesShowCloudInitRequest): Promise<MachineCloudInitStatus>
    /** Show a snapshot. Needs one of the claims LIST_SNAPSHOT_VM, LIST_OWN_VM_SNAPSHOT. `GET /api/v1/machines/{id}/snapshots/{snapshot}` */
    showSnapshot(request: MachinesShowSnapshotRequest): Promise<Snapshot>
    /** Start a machine; resume it if it is paused or suspended. Needs claim UPDATE_VM_STATES. The job goes on after a restart of the service. `PUT /api/v1/machines/{id}/start` */
    start(request: MachinesStartRequest & AsJob): Promise<JobOf<MachineOperationResult>>
    /** Start a machine; resume it if it is paused or suspended. Needs claim UPDATE_VM_STATES. The job goes on after a restart of the service. `PUT /api/v1/machines/{id}/start` */
    start(request: MachinesStartRequest): Promise<MachineOperationResult>
    /** Show a machine's state and address. Needs claim LIST_VM. `GET /api/v1/machines/{id}/status` */
    status(request: MachinesStatusRequest): Promise<MachineStatus>
    /** Shut a machine down; force=true cuts its power. Needs claim UPDATE_VM_STATES. The job goes on after a restart of the service. `PUT /api/v1/machines/{id}/stop` */
    stop(request: MachinesStopRequest & AsJob): Promise<JobOf<MachineOperationResult>>
    /** Shut a machine down; force=true cuts its power. Needs claim UPDATE_VM_STATES. The job goes on after a restart of the service. `PUT /api/v1/machines/{id}/stop` */
    stop(request: MachinesStopRequest): Promise<MachineOperationResult>
    /** Save a machine's memory to disk and stop it. Needs claim UPDATE_VM_STATES. The job goes on after a restart of the service. `PUT /api/v1/machines/{id}/suspend` */
    suspend(request: MachinesSuspendRequest & AsJob): Promise<JobOf<MachineOperationResult>>
    /** Save a machine's memory to disk and stop it. Needs claim UPDATE_VM_STATES. The job goes on after a restart of the service. `PUT /api/v1/machines/{id}/suspend` */
    suspend(request: MachinesSuspendRequest): Promise<MachineOperationResult>
    /** Connect to a TCP port of a running machine over a WebSocket. Each binary message is bytes of the connection, in both directions; a message of the client has at most 1 MiB. No port of the host stays open for it. A caller without EXECUTE_COMMAND_VM may open one to the machines that they made. The tunnel ends when one side closes it, when the machine stops, and when the caller loses the right to it. Needs one of the claims EXECUTE_COMMAND_VM, LIST_VM. This GET changes something: it is refused to prefetching and to pages of other sites; PUT does the same. `GET /api/v1/machines/{id}/tunnel` */
    tunnel(request: MachinesTunnelRequest): Promise<WebSocket>
    /** Change the name or the description of a snapshot. Needs one of the claims CREATE_SNAPSHOT_VM, CREATE_OWN_VM_SNAPSHOT. `PUT /api/v1/machines/{id}/snapshots/{snapshot}` */
    updateSnapshot(request: MachinesUpdateSnapshotRequest): Promise<Snapshot>
    /** Wait for a condition of a machine. The reply is 200 also when the time is over; `result` tells what has happened. Waits for serial output and for ports need EXECUTE_COMMAND_VM, or a machine that the caller made. A wait that goes on at the cursor of the one before misses nothing in between. Needs claim LIST_VM. `GET /api/v1/machines/{id}/wait` */
    wait(request: MachinesWaitRequest): Promise<MachineWait>
    /** Write a file of a running machine, by its guest agent. The body is the file, of at most 1 GiB. The guest has the whole file or none of it; a link in its place is replaced. With Repr-Digest: sha-256=:BASE64: (RFC 9530) the file is written only if it has this SHA-256. Needs one of the claims EXECUTE_COMMAND_VM, LIST_VM. `PUT /api/v1/machines/{id}/files` */
    writeFile(request: MachinesWriteFileRequest): Promise<MachineWrittenFile>
  }
  /** Metrics for Prometheus */
  readonly metrics: {
    /** Show metrics of the service for Prometheus. For every signed-in caller. `GET /metrics` */
    show(request?: MetricsShowRequest): Promise<string>
  }
  /** This document */
  readonly openapi: {
    /** Describe the endpoints that are served, as OpenAPI 3.1. Open to everybody. `GET /api/openapi.json` */
    show(request?: OpenapiShowRequest): Promise<Record<string, unknown>>
  }
  /** Machines that run and wait for somebody to claim them */
  readonly pools: {
    /** Get a machine of a pool, which runs. The machine belongs to the caller from now on; delete it when it is done. Without a ready machine the call waits in line, at most `timeout` seconds, and then fails with 503. With the same Idempotency-Key it returns the same machine, also after a crash of the service. Needs claim UPDATE_VM_STATES. `POST /api/v1/pools/{name}/claim` */
    claim(request: PoolsClaimRequest): Promise<ClaimedMachine>
    /** Define a pool, which keeps machines ready for claims. The pool makes its machines in the background; GET shows them, and why one could not be made. Until it is claimed, a machine belongs to nobody. A machine can be the source only for who may enter it, because who claims a copy gets its content. Needs claim CREATE_VM. `POST /api/v1/pools` */
    create(request: PoolsCreateRequest): Promise<Pool>
    /** Delete a pool; claimed machines stay, and with members=keep the ready ones too. Needs claim CREATE_VM. `DELETE /api/v1/pools/{name}` */
    delete(request: PoolsDeleteRequest): Promise<Accepted>
    /** List the pools. Needs claim LIST_VM. `GET /api/v1/pools` */
    list(request?: PoolsListRequest): Promise<Pool[]>
    /** Show a pool with its machines. Needs claim LIST_VM. `GET /api/v1/pools/{name}` */
    show(request: PoolsShowRequest): Promise<Pool>
    /** Replace the definition of a pool. If the pool makes other machines from now on, its ready ones are replaced. Claimed machines stay as they are. Needs claim CREATE_VM. `PUT /api/v1/pools/{name}` */
    update(request: PoolsUpdateRequest): Promise<Pool>
  }
  /** Named sets of claims */
  readonly roles: {
    /** Add a claim to a role. Needs claim UPDATE_ROLE. `POST /api/v1/auth/roles/{id}/claims` */
    addClaim(request: RolesAddClaimRequest): Promise<Claim>
    /** Create a role. Needs claim CREATE_ROLE. `POST /api/v1/auth/roles` */
    create(request: RolesCreateRequest): Promise<Role>
    /** Delete a role that nobody has. Needs claim DELETE_ROLE. `DELETE /api/v1/auth/roles/{id}` */
    delete(request: RolesDeleteRequest): Promise<Accepted>
    /** List the roles. Needs claim LIST_ROLE. `GET /api/v1/auth/roles` */
    list(request?: RolesListRequest): Promise<Role[]>
    /** List the claims of a role. Needs claim LIST_ROLE. `GET /api/v1/auth/roles/{id}/claims` */
    listClaims(request: RolesListClaimsRequest): Promise<Claim[]>
    /** Remove a claim from a role. Needs claim UPDATE_ROLE. `DELETE /api/v1/auth/roles/{id}/claims/{claim}` */
    removeClaim(request: RolesRemoveClaimRequest): Promise<Accepted>
    /** Show one role. Needs claim LIST_ROLE. `GET /api/v1/auth/roles/{id}` */
    show(request: RolesShowRequest): Promise<Role>
  }
  /** When snapshots of a machine are made, and which of them are kept */
  readonly snapshotSchedules: {
    /** Delete a schedule of snapshots; the snapshots that it has made stay. Needs one of the claims CREATE_SNAPSHOT_VM, CREATE_OWN_VM_SNAPSHOT. `DELETE /api/v1/machines/{id}/snapshot-schedules/{schedule}` */
    delete(request: SnapshotSchedulesDeleteRequest): Promise<Accepted>
    /** List the schedules of snapshots of a machine, ordered by name. Needs one of the claims LIST_SNAPSHOT_VM, LIST_OWN_VM_SNAPSHOT. `GET /api/v1/machines/{id}/snapshot-schedules` */
    list(request: SnapshotSchedulesListRequest): Promise<SnapshotScheduleList>
    /** Set when snapshots of a machine are made, and which of them are kept. The schedule makes snapshots and deletes those of its own that `keep` does not name, with the present rights of the caller, who needs the right to make and to delete them. A run that was missed is made up once. A machine that has not run since its last snapshot gets none. Needs one of the claims CREATE_SNAPSHOT_VM, CREATE_OWN_VM_SNAPSHOT. `PUT /api/v1/machines/{id}/snapshot-schedules/{schedule}` */
    set(request: SnapshotSchedulesSetRequest): Promise<SnapshotSchedule>
  }
  /** Commands on other hosts */
  readonly ssh: {
    /** Run a command on a remote host over SSH. Needs claim EXECUTE_SSH. `POST /api/v1/ssh/execute` */
    execute(request: SshExecuteRequest): Promise<SshResult>
  }
  /** Private settings of each user */
  readonly userConfigs: {
    /** Create one of your settings. For every signed-in caller. `POST /api/v1/user/configs` */
    create(request?: UserConfigsCreateRequest): Promise<UserConfig>
    /** Delete one of your settings. For every signed-in caller. `DELETE /api/v1/user/configs/{id}` */
    delete(request: UserConfigsDeleteRequest): Promise<Accepted>
    /** List your settings. For every signed-in caller. `GET /api/v1/user/configs` */
    list(request?: UserConfigsListRequest): Promise<UserConfig[]>
    /** Show one of your settings. For every signed-in caller. `GET /api/v1/user/configs/{id}` */
    show(request: UserConfigsShowRequest): Promise<UserConfig>
    /** Change one of your settings. For every signed-in caller. `PUT /api/v1/user/configs/{id}` */
    update(request: UserConfigsUpdateRequest): Promise<UserConfig>
  }
  /** Users who can sign in */
  readonly users: {
    /** Create a user. Needs claim CREATE_USER. `POST /api/v1/auth/users` */
    create(request: UsersCreateRequest): Promise<User>
    /** Delete a user with their API keys and settings. Needs claim DELETE_USER. `DELETE /api/v1/auth/users/{id}` */
    delete(request: UsersDeleteRequest): Promise<Accepted>
    /** Give a user a claim. Needs claim UPDATE_USER. `POST /api/v1/auth/users/{id}/claims` */
    giveClaim(request: UsersGiveClaimRequest): Promise<{
      /** Name that people read; of a role or claim, its name */
      name: string
    }>
    /** Give a user a role. Needs claim UPDATE_USER. `POST /api/v1/auth/users/{id}/roles` */
    giveRole(request: UsersGiveRoleRequest): Promise<{
      /** Name that people read; of a role or claim, its name */
      name: string
    }>
    /** List the users. Needs claim LIST_USER. `GET /api/v1/auth/users` */
    list(request?: UsersListRequest): Promise<User[]>
    /** List the claims that a user holds directly. Needs claim LIST_USER. `GET /api/v1/auth/users/{id}/claims` */
    listClaims(request: UsersListClaimsRequest): Promise<{
      /** UUID, given by the service */
      id: string
      /** Name that people read; of a role or claim, its name */
      name: string
    }[]>
    /** List the roles that a user holds. Needs claim LIST_USER. `GET /api/v1/auth/users/{id}/roles` */
    listRoles(request: UsersListRolesRequest): Promise<{
      /** UUID, given by the service */
      id: string
      /** Name that people read; of a role or claim, its name */
      name: string
    }[]>
    /** Show one user. Needs claim LIST_USER. `GET /api/v1/auth/users/{id}` */
    show(request: UsersShowRequest): Promise<User>
    /** Take a claim from a user. Needs claim UPDATE_USER. `DELETE /api/v1/auth/users/{id}/claims/{claim}` */
    takeClaim(request: UsersTakeClaimRequest): Promise<Accepted>
    /** Take a role from a user. Needs claim UPDATE_USER. `DELETE /api/v1/auth/users/{id}/roles/{role}` */
    takeRole(request: UsersTakeRoleRequest): Promise<Accepted>
    /** Let a user sign in again after too many wrong passwords. Needs claim UPDATE_USER. `DELETE /api/v1/auth/users/{id}/lock` */
    unlock(request: UsersUnlockRequest): Promise<Accepted>
    /** Change the name, the e-mail address or the password of a user. Needs claim UPDATE_USER. `PUT /api/v1/auth/users/{id}` */
    update(request: UsersUpdateRequest): Promise<Accepted>
  }
}

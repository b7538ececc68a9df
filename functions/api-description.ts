import { glossary } from './glossary.ts'

/** Description of the service in the OpenAPI document. */
const description = `vmhost manages the virtual machines of one host: machines, a catalog of packed machines, users and their rights, events.

Sign in with \`POST /api/v1/auth/token\`, then send \`Authorization: Bearer TOKEN\`; or send an API key as
\`X-Api-Key\` or \`Authorization: Bearer\`. Every error reply has the schema \`Error\`. Send \`Prefer: respond-async\` to run a long call as a job. Send an
\`Idempotency-Key\` to repeat safely any call that changes something. Later versions may add members to replies. In a
request body, a null member counts as absent.`

/** Descriptions of the areas. The key is the first part of the ids of an area's routes. */
const areas: Readonly<Record<string, string>> = {
  audit: 'Log of all actions and refusals, with user and address',
  auth: 'Sign-in, tokens, passwords and API keys',
  catalog: 'Packed machines on storage providers: push, pull, import, and visibility',
  'catalog-cache': 'Pulled machines that this host caches for the next pull',
  'catalog-managers': 'Catalogs of other services; this service stores the credentials',
  claims: 'Single rights',
  events: 'Events as pages, server-sent events and WebSocket messages',
  hosts: 'Hosts whose machines this service manages',
  health: 'Health of the service and its parts',
  images: 'Disk and ISO images of this host, which machines are made of',
  jobs: 'Work in the background',
  license: 'License of the virtualization product',
  machines: 'Virtual machines of this host',
  metrics: 'Metrics for Prometheus',
  openapi: 'This document',
  pools: 'Machines that run and wait for somebody to claim them',
  roles: 'Named sets of claims',
  'snapshot-schedules': 'When snapshots of a machine are made, and which of them are kept',
  ssh: 'Commands on other hosts',
  'user-configs': 'Private settings of each user',
  users: 'Users who can sign in',
}

export const apiDescription = { description, areas, glossary } as const

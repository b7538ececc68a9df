import type { NewEvent } from '#lib/events/event.ts'

/** An event about users, roles, claims or API keys, for holders of these claims and for these users. */
const createEvent = (
  message: string,
  body: Readonly<Record<string, string>>,
  claims: readonly string[],
  users: readonly string[] = [],
): NewEvent => ({ type: 'auth', message, body, audience: { claims: [...claims], users: [...users] } })

export const createUserEvent = (what: 'ADDED' | 'UPDATED' | 'REMOVED', userId: string): NewEvent =>
  createEvent(`USER_${what}`, { user_id: userId }, ['LIST_USER'], [userId])

export const createUserGrantEvent = (
  kind: 'roles' | 'claims',
  what: 'ADDED' | 'REMOVED',
  userId: string,
  name: string,
): NewEvent =>
  kind === 'roles'
    ? createEvent(`USER_ROLE_${what}`, { user_id: userId, role_id: name }, ['LIST_USER'], [userId])
    : createEvent(`USER_CLAIM_${what}`, { user_id: userId, claim_id: name }, ['LIST_USER'], [userId])

export const createRoleEvent = (what: 'ADDED' | 'REMOVED', name: string): NewEvent =>
  createEvent(`ROLE_${what}`, { role_id: name }, ['LIST_ROLE'])

export const createRoleClaimEvent = (what: 'ADDED' | 'REMOVED', role: string, claim: string): NewEvent =>
  createEvent(`ROLE_CLAIM_${what}`, { role_id: role, claim_id: claim }, ['LIST_ROLE'])

export const createClaimEvent = (what: 'ADDED' | 'REMOVED', name: string): NewEvent =>
  createEvent(`CLAIM_${what}`, { claim_id: name }, ['LIST_CLAIM'])

export const createApiKeyEvent = (what: 'ADDED' | 'REVOKED' | 'REMOVED', id: string, owner: string): NewEvent =>
  createEvent(`API_KEY_${what}`, { api_key_id: id }, ['LIST_API_KEY'], [owner])

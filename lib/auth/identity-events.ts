import type { NewEvent } from '#lib/events/event.ts'

/** An event about users, roles, claims or API keys, for holders of these claims and for these users. */
const event = (
  message: string,
  body: Readonly<Record<string, string>>,
  claims: readonly string[],
  users: readonly string[] = [],
): NewEvent => ({ type: 'auth', message, body, audience: { claims: [...claims], users: [...users] } })

export const userEvent = (what: 'ADDED' | 'UPDATED' | 'REMOVED', userId: string): NewEvent =>
  event(`USER_${what}`, { user_id: userId }, ['LIST_USER'], [userId])

export const userGrantEvent = (
  kind: 'roles' | 'claims',
  what: 'ADDED' | 'REMOVED',
  userId: string,
  name: string,
): NewEvent =>
  kind === 'roles'
    ? event(`USER_ROLE_${what}`, { user_id: userId, role_id: name }, ['LIST_USER'], [userId])
    : event(`USER_CLAIM_${what}`, { user_id: userId, claim_id: name }, ['LIST_USER'], [userId])

export const roleEvent = (what: 'ADDED' | 'REMOVED', name: string): NewEvent =>
  event(`ROLE_${what}`, { role_id: name }, ['LIST_ROLE'])

export const roleClaimEvent = (what: 'ADDED' | 'REMOVED', role: string, claim: string): NewEvent =>
  event(`ROLE_CLAIM_${what}`, { role_id: role, claim_id: claim }, ['LIST_ROLE'])

export const claimEvent = (what: 'ADDED' | 'REMOVED', name: string): NewEvent =>
  event(`CLAIM_${what}`, { claim_id: name }, ['LIST_CLAIM'])

export const apiKeyEvent = (what: 'ADDED' | 'REVOKED' | 'REMOVED', id: string, owner: string): NewEvent =>
  event(`API_KEY_${what}`, { api_key_id: id }, ['LIST_API_KEY'], [owner])

import type { Principal } from './principal.ts'
export type Access =
  | 'public'
  | 'signed-in'
  | { roles?: readonly string[]; claims?: readonly string[]; anyClaim?: readonly string[] }
export const mayCall = (_a: Access, _p: Principal): undefined | { missing: string } => undefined

/** A program for workerd: the edge, with limits that only the platform has. */
import '../../support/workerd/strict-limits.ts'

export { default, Control, Passwords } from '#lib/entry/edge.ts'

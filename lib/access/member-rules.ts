/**
 * Rules between members as JSON Schema, for the `.meta()` of a schema whose refinement checks them. They use `if`, which
 * generators of clients ignore; from `anyOf` these would generate several types.
 */

/** Requires these members. Null counts as left out. Linters want each required member to be in `properties` too. */
export const requireMembers = (...names: readonly string[]) => ({
  required: [...names],
  properties: Object.fromEntries(names.map(name => [name, { not: { type: 'null' } }])),
})

/** Requires at least one of these members. */
export const requireAnyOf = (...names: readonly string[]) => ({
  if: { anyOf: names.map(name => requireMembers(name)) },
  else: requireMembers(...names),
})

/** The keys of an object literal. Its type names all of them, which TypeScript does not assume of objects in general. */
export const keysOf = <T extends object>(object: T): (keyof T & string)[] => Object.keys(object) as (keyof T & string)[]

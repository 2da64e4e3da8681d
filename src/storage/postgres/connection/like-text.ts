/** The `like` pattern for a text anywhere, with its own wildcards escaped. */
export const likeText = (part: string): string => `%${part.replace(/[\\%_]/g, '\\$&')}%`

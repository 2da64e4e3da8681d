/** The pattern of `like` for a text anywhere, its own wildcards taken as they stand. */
export const likeText = (part: string): string => `%${part.replace(/[\\%_]/g, '\\$&')}%`

/** Answers the config that it is given; editors know its members by it. */
export const defineConfig = (config) => config;

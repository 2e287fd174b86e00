// A part of undici that is loaded by itself: all of it takes three times as long.
declare module "undici/lib/dispatcher/pool.js" {
  export { Pool as default } from "undici";
}

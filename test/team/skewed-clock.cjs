// Preloaded into a gateway: its clock is wrong by TEST_SKEW_MS.
const skewMs = Number(process.env.TEST_SKEW_MS);
const { now } = Date;
Date.now = () => now() + skewMs;
const RealDate = Date;
globalThis.Date = new Proxy(RealDate, {
  construct: (target, args, newTarget) =>
    Reflect.construct(target, args.length === 0 ? [now() + skewMs] : args, newTarget),
  apply: () => new RealDate(now() + skewMs).toString(),
});

/* types.d.ts: what the page uses of web/engine, and of browsers newer than the compiler's own list. */

interface EngineAnswer {
    status: number;
    out: string;
    error: string;
    files?: Record<string, Uint8Array>;
    [key: string]: any;
}

declare class Engine {
    constructor(module: WebAssembly.Module);
    static compile(name?: string): Promise<WebAssembly.Module>;
    static warm(module: WebAssembly.Module): Promise<void>;
    static isFused(): Promise<boolean>;
    command(
        args: string[],
        options: { files?: Record<string, Uint8Array>; onOut?: (text: string) => void },
    ): Promise<EngineAnswer>;
    open(
        model: Pick<Study, "workspace" | "measurement" | "patchset" | "patchName" | "patchFiles">,
        files: Record<string, Uint8Array>,
    ): Promise<EngineAnswer>;
    expected(values: Float64Array): Promise<EngineAnswer>;
    remove(names: string[]): Promise<EngineAnswer>;
    stop(reason?: Error): void;
}

declare class DecompressionStream {
    constructor(format: "gzip" | "deflate" | "deflate-raw");
    readonly readable: ReadableStream<Uint8Array>;
    readonly writable: WritableStream<Uint8Array>;
}

/* Answers of the program with --json, as far as the page shows them. null: not known, or not finite. */

interface ModelParameter {
    name: string;
    constraint: string | null;
    init: number;
    bounds: [number, number];
    fixed: boolean;
}

interface ModelAnswer {
    poi: string | null;
    model_channels: Array<{ name: string; bins: number; samples: string[] }>;
    model_parameters: ModelParameter[];
    modifiers: Record<string, string>;
    measurements: Array<[string, string, string[]]>;
    unused: Record<string, string[]>;
}

interface FittedParameter {
    name: string;
    value: number;
    error: number | null;
    state: string;
}

interface FitAnswer {
    poi: string | null;
    status: string;
    twice_nll: number;
    edm: number;
    iterations: number;
    parameters: FittedParameter[];
    covariance: number[][];
}

interface TestAnswer {
    mu: number;
    CLs_obs: number;
    CLs_exp: number[];
    CLsb: number;
    CLb: number;
    q: number;
    q_A: number;
    status: string;
}

interface LimitAnswer {
    poi: string;
    level: number;
    limit_obs: number;
    limit_exp: number[];
    upper_bound: number;
    bound_widened: boolean;
    reason_obs: string;
    scan: TestAnswer[];
}

interface ScanAnswer {
    parameters: string[];
    best: number[];
    points: Array<{ values: number[]; q: number; twice_nll: number; status: string }>;
    crossings: Array<{ confidence: number; q: number; value: number; rises: boolean }>;
}

interface Ranked {
    name: string;
    pull: number | null;
    constraint: number | null;
    impact_up: number | null; /* these four: conditional impacts */
    impact_down: number | null;
    prefit_up: number | null;
    prefit_down: number | null;
    impact?: number | null; /* a global impact */
}

interface RankingAnswer {
    poi: string;
    impacts: "conditional" | "global";
    entries: Ranked[];
}

interface PredictedChannel {
    name: string;
    prefit: number[];
    prefit_error: number[];
    postfit: number[];
    error: number[];
    data: number[];
    total: { prefit: number; prefit_error: number; postfit: number; error: number; data: number };
    samples: Array<{ name: string; prefit: number[]; postfit: number[] }>;
}

interface PredictAnswer {
    channels: PredictedChannel[];
}

interface ProfiledModel {
    response: string;
    misfit: number;
    potential: number;
    confidence?: { intervals: Array<[number, number]> };
    profile: Array<{ potential: number; misfit: number }>;
}

interface ProfileAnswer {
    spectrum: number;
    models: ProfiledModel[];
}

interface PatchMetadata {
    name: string;
    values: Array<number | string>;
}

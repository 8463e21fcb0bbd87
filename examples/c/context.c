/* Opens a context with options of one's own and says what it runs on. */
#include <paritas.h>
#include <stdio.h>

int main(void)
{
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    options.threads = 2;
    paritas_context *context;
    if (paritas_open(&options, &context) != PARITAS_OK) {
        fprintf(stderr, "%s\n", paritas_error_message(context));
        paritas_close(context);
        return 1;
    }
    printf("paritas %s on %s, %s kernels\n", paritas_version(), paritas_device_name(context),
           paritas_isa_name(context));

    /* a call that fails answers a status, and the context says what happened and where */
    paritas_workspace *workspace;
    paritas_status status = paritas_workspace_parse(context, "[1, 2", 5, "my text", &workspace);
    printf("%s: %s\n", paritas_status_name(status), paritas_error_message(context));
    paritas_close(context);
    return status == PARITAS_INVALID_INPUT ? 0 : 1;
}

/* program.c: the package's program. All of it is in the library beside it, which the module needs too. */
int paritas_program_main(int argc, char **argv);

int main(int argc, char **argv)
{
    return paritas_program_main(argc, argv);
}

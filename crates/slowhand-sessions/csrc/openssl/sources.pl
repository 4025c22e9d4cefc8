# Prepares OpenSSL for compilation, like `make build_libs` but without make. Run it in the directory of Configure, with the path
# of the sources. It generates the files that OpenSSL's build description (configdata.pm) lists as generated. Then it prints
# `source <path>` for each file of the static libraries, and `include <path>` for each directory of headers.
use strict;
use warnings;
use lib '.';
use configdata;
use File::Basename;
use File::Path qw(make_path);

my ($root) = @ARGV;
my @libraries = qw(libcrypto libssl);
my (%seen, @products, %generated);

# The sources of a product, including those of the libraries in it and of the libraries that it needs.
sub sources {
    my ($product) = @_;
    return () if $seen{$product}++;
    push @products, $product;
    my @sources;
    for my $part (@{$unified_info{sources}{$product} // []}) {
        push @sources, $part =~ /\.a$/ ? sources($part) : @{$unified_info{sources}{$part}};
    }
    return @sources, map { sources($_) } grep { /\.a$/ } @{$unified_info{depends}{$product} // []};
}

# Generates a file, after the files that it depends on. Dies if the generator fails.
sub generate {
    my ($file) = @_;
    return if $generated{$file}++;
    my @needed = @{$unified_info{depends}{$file} // []};
    generate($_) for grep { $unified_info{generate}{$_} } @needed;
    my ($generator, @arguments) = @{$unified_info{generate}{$file}};
    my @command;
    if ($generator =~ /\.in$/) {
        # If the name of a module has several parts, the build description has "directory|file".
        my @modules = map {
            my ($directory, $module) = /\|/ ? split /\|/ : (dirname($_), basename($_));
            $module =~ s/\.pm$//;
            ("-I$directory", '-M' . join '::', split m{/}, $module);
        } grep { /\.pm$/ && $_ ne 'configdata.pm' } @needed;
        @command = ('-I.', '-Mconfigdata', @modules, "$root/util/dofile.pl", '-oMakefile', $generator);
    } else {
        # Only one argument of a generator is a variable of the makefile: the compiler's command line.
        @command = ($generator, map { /\$/ ? 'cc' : s/^"|"$//gr } @arguments);
    }
    make_path(dirname($file));
    open my $output, '-|', $^X, @command or die "$file: $!";
    open my $written, '>', $file or die "$file: $!";
    # It names the files that it was made from, without the folder in which the sources are.
    print {$written} map { s{\Q$config{sourcedir}\E/}{}gr } readline $output;
    close $written or die "$file: $!";
    close $output or die "$file: its generator failed\n";
}

my @sources = map { sources($_) } @libraries;
my @headers = grep { /\.inc$/ || /\.h$/ && m{^(include|providers/common/include|crypto)/} } keys %{$unified_info{generate}};
generate($_) for sort @headers;
generate($_) for grep { $unified_info{generate}{$_} } @sources;
my %includes = map { $_ => 1 } map { @{$unified_info{includes}{$_} // []} } @products;
print "include $_\n" for sort keys %includes;
print "source $_\n" for @sources;
